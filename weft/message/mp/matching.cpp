// SPDX-License-Identifier: Apache-2.0
#include <utility>

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

// The links of a node in one of its lists.
struct Links {
  template <typename Node>
  static Node*& before(Node* node) {
    return node->before;
  }
  template <typename Node>
  static Node*& after(Node* node) {
    return node->after;
  }
};
struct BinLinks {
  static UnexpectedRecord*& before(UnexpectedRecord* node) { return node->bin_before; }
  static UnexpectedRecord*& after(UnexpectedRecord* node) { return node->bin_after; }
};

template <typename In = Links, typename Node>
void append(Node* node, Node*& first) {
  In::after(node) = nullptr;
  if (first == nullptr) {
    first = In::before(node) = node;
    return;
  }
  Node* const last = std::exchange(In::before(first), node);
  In::before(node) = last;
  In::after(last) = node;
}

template <typename In = Links, typename Node>
void unlink(Node* node, Node*& first) {
  Node* const after = In::after(node);
  if (node == first) {
    first = after;
  } else {
    In::after(In::before(node)) = after;
  }
  Node* const next = after != nullptr ? after : first;  // The first node knows the last one.
  if (next != nullptr) In::before(next) = In::before(node);
  In::before(node) = In::after(node) = nullptr;
}

// Into a list that is sorted by order.
void insert(Request* request, Request*& first) {
  Request* after = first;
  while (after != nullptr && after->order < request->order) after = after->after;
  if (after == nullptr) {
    append(request, first);
    return;
  }
  request->after = after;
  request->before = std::exchange(after->before, request);
  (after == first ? first : request->before->after) = request;
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
  Request* const exact = bin == nullptr ? nullptr : first_taking(bin->posted, context, tag);
  Request* const wild = first_taking(wild_, context, tag);
  Request* const chosen =
      exact != nullptr && (wild == nullptr || exact->order < wild->order) ? exact : wild;
  if (chosen == nullptr) return nullptr;
  if (chosen != exact) {
    unlink(chosen, wild_);
  } else {
    unlink(chosen, bin->posted);
    if (bin->empty()) drop(key(context, source));
  }
  return chosen;
}

void Matching::add_posted(Request* request) {
  number(request);
  if (request->source == any_source) {
    append(request, wild_);
  } else {
    Bin& bin = bins_[key(request->context, request->source)];
    append(request, bin.posted);
  }
}

void Matching::add_again(Request* request) {
  if (request->source == any_source) {
    insert(request, wild_);
  } else {
    Bin& bin = bins_[key(request->context, request->source)];
    insert(request, bin.posted);
  }
}

void Matching::remove_posted(Request* request) {
  if (request->source == any_source) {
    unlink(request, wild_);
    return;
  }
  const std::uint64_t at = key(request->context, request->source);
  Bin& bin = *bins_.find(at);
  unlink(request, bin.posted);
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
  UnexpectedRecord* record = bin == nullptr ? nullptr : bin->unexpected;
  while (record != nullptr && !takes(tag, record->arrival.tag)) record = record->bin_after;
  return record;
}

void Matching::add_unexpected(std::unique_ptr<UnexpectedRecord> record) {
  UnexpectedRecord* const node = record.release();
  append(node, first_);
  append<BinLinks>(node, bins_[key(node->context, node->arrival.source)].unexpected);
}

std::unique_ptr<UnexpectedRecord> Matching::remove_unexpected(UnexpectedRecord* record) {
  unlink(record, first_);
  const std::uint64_t at = key(record->context, record->arrival.source);
  Bin& bin = *bins_.find(at);
  unlink<BinLinks>(record, bin.unexpected);
  if (bin.empty()) drop(at);
  return std::unique_ptr<UnexpectedRecord>(record);
}

}  // namespace weft::mp
