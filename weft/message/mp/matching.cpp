// SPDX-License-Identifier: Apache-2.0
#include <weft/message/mp/matching.hpp>

namespace weft::mp {

namespace {

bool takes(int wanted, int tag) {
  return wanted == any_tag || wanted == tag;
}

Request* first_taking(Request* from, ContextId context, int tag) {
  for (; from != nullptr; from = from->after) {
    if (from->context == context && takes(from->tag, tag)) return from;
  }
  return nullptr;
}

template <typename Node>
void append(Node* node, Node*& first, Node*& last) {
  node->before = last;
  node->after = nullptr;
  (last == nullptr ? first : last->after) = node;
  last = node;
}

template <typename Node>
void unlink(Node* node, Node*& first, Node*& last) {
  (node->before == nullptr ? first : node->before->after) = node->after;
  (node->after == nullptr ? last : node->after->before) = node->before;
  node->before = node->after = nullptr;
}

// Into a list that is sorted by order.
void insert(Request* request, Request*& first, Request*& last) {
  Request* after = first;
  while (after != nullptr && after->order < request->order) after = after->after;
  request->after = after;
  request->before = after == nullptr ? last : after->before;
  (request->before == nullptr ? first : request->before->after) = request;
  (after == nullptr ? last : after->before) = request;
}

}  // namespace

Matching::~Matching() {
  while (first_ != nullptr) {
    const std::unique_ptr<UnexpectedRecord> gone(first_);
    first_ = gone->after;
  }
}

Request* Matching::match_arrival(ContextId context, int source, int tag) {
  Bin* const bin = bins_.find(key(context, source));
  Request* const exact = bin == nullptr ? nullptr : first_taking(bin->posted_first, context, tag);
  Request* const wild = first_taking(wild_first_, context, tag);
  Request* const chosen =
      exact != nullptr && (wild == nullptr || exact->order < wild->order) ? exact : wild;
  if (chosen == nullptr) return nullptr;
  if (chosen != exact) {
    unlink(chosen, wild_first_, wild_last_);
  } else {
    unlink(chosen, bin->posted_first, bin->posted_last);
    if (bin->empty()) drop(key(context, source));
  }
  return chosen;
}

void Matching::add_posted(Request* request) {
  number(request);
  if (request->source == any_source) {
    append(request, wild_first_, wild_last_);
  } else {
    Bin& bin = bins_[key(request->context, request->source)];
    append(request, bin.posted_first, bin.posted_last);
  }
}

void Matching::add_again(Request* request) {
  if (request->source == any_source) {
    insert(request, wild_first_, wild_last_);
  } else {
    Bin& bin = bins_[key(request->context, request->source)];
    insert(request, bin.posted_first, bin.posted_last);
  }
}

void Matching::remove_posted(Request* request) {
  if (request->source == any_source) {
    unlink(request, wild_first_, wild_last_);
    return;
  }
  const std::uint64_t at = key(request->context, request->source);
  Bin& bin = *bins_.find(at);
  unlink(request, bin.posted_first, bin.posted_last);
  if (bin.empty()) drop(at);
}

void Matching::drop(std::uint64_t at) {
  if (bins_.size() > spare_bins) bins_.erase(at);
}

UnexpectedRecord* Matching::find(ContextId context, int source, int tag) {
  if (source == any_source) {
    for (UnexpectedRecord* record = first_; record != nullptr; record = record->after) {
      if (record->context == context && takes(tag, record->arrival.tag)) return record;
    }
    return nullptr;
  }
  Bin* const bin = bins_.find(key(context, source));
  UnexpectedRecord* record = bin == nullptr ? nullptr : bin->first;
  while (record != nullptr && !takes(tag, record->arrival.tag)) record = record->bin_after;
  return record;
}

void Matching::add_unexpected(std::unique_ptr<UnexpectedRecord> record) {
  UnexpectedRecord* const node = record.release();
  append(node, first_, last_);
  Bin& bin = bins_[key(node->context, node->arrival.source)];
  node->bin_before = bin.last;
  (bin.last == nullptr ? bin.first : bin.last->bin_after) = node;
  bin.last = node;
}

std::unique_ptr<UnexpectedRecord> Matching::remove_unexpected(UnexpectedRecord* record) {
  unlink(record, first_, last_);
  const std::uint64_t at = key(record->context, record->arrival.source);
  Bin& bin = *bins_.find(at);
  (record->bin_before == nullptr ? bin.first : record->bin_before->bin_after) = record->bin_after;
  (record->bin_after == nullptr ? bin.last : record->bin_after->bin_before) = record->bin_before;
  record->bin_before = record->bin_after = nullptr;
  if (bin.empty()) drop(at);
  return std::unique_ptr<UnexpectedRecord>(record);
}

}  // namespace weft::mp
