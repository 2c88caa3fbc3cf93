// SPDX-License-Identifier: Apache-2.0
// libfabric behind the plugin's table: reliable endpoints that write into memory of others. No byte
// that comes through it is ever looked at here.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>

#include <weft/real/wire/ofi_endpoint.hpp>

namespace weft::wire {

namespace {

constexpr int mr_modes =
    FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_ENDPOINT;

std::size_t core_length(const char* provider) {
  return std::strcspn(provider, ";");
}

bool same_core(const char* provider, const char* wish) {
  const std::size_t length = core_length(provider);
  return length == std::strlen(wish) && std::strncmp(provider, wish, length) == 0;
}

// What we ask for. Keys travel over other, proved connections: a provider that lets us choose them
// gets random ones, so that they cannot be guessed.
OfiInfo hints_for(const char* provider, const char* domain, const char* fabric) {
  OfiInfo hints(fi_allocinfo());
  if (hints == nullptr) return hints;
  hints->caps = FI_RMA | FI_WRITE | FI_REMOTE_WRITE | FI_READ | FI_REMOTE_READ;
  hints->mode = FI_CONTEXT | FI_CONTEXT2 | FI_RX_CQ_DATA;
  hints->ep_attr->type = FI_EP_RDM;
  hints->domain_attr->mr_mode = mr_modes;
  hints->domain_attr->threading = FI_THREAD_DOMAIN;
  hints->domain_attr->resource_mgmt = FI_RM_ENABLED;
  if (provider != nullptr) hints->fabric_attr->prov_name = ::strdup(provider);
  if (domain != nullptr) hints->domain_attr->name = ::strdup(domain);
  if (fabric != nullptr) hints->fabric_attr->name = ::strdup(fabric);
  return hints;
}

OfiInfo find_domains(const char* provider, const char* domain, const char* fabric) {
  const OfiInfo hints = hints_for(provider, domain, fabric);
  fi_info* found = nullptr;
  if (hints == nullptr ||
      fi_getinfo(FI_VERSION(1, 9), nullptr, nullptr, 0, hints.get(), &found) != 0) {
    return nullptr;
  }
  return OfiInfo(found);
}

bool link_local(const fi_info& info) {
  return std::strncmp(info.fabric_attr->name, "fe80:", 5) == 0;
}

// The same card once more, driven in another way.
bool is_variant(const fi_info& info) {
  const std::string_view name = info.domain_attr->name;
  return name.ends_with("-xrc") || name.ends_with("-dgram");
}

template <std::size_t room>
void copy_text(char (&to)[room], const char* from, std::size_t most) {
  const std::size_t length = std::min({std::strlen(from), most, room - 1});
  std::memcpy(to, from, length);
  to[length] = 0;
}

int list(const char* provider, const char* domain, OfiName* out, int most) {
  const OfiInfo found = find_domains(provider, domain, nullptr);
  int count = 0;
  for (const fi_info* one = found.get(); one != nullptr; one = one->next) {
    // Hints are hints: some providers list other domains as well.
    if (provider != nullptr && !same_core(one->fabric_attr->prov_name, provider)) continue;
    if (domain != nullptr && std::strcmp(one->domain_attr->name, domain) != 0) continue;
    if (link_local(*one) || (domain == nullptr && is_variant(*one))) continue;
    OfiName name = {};
    const char* const core = one->fabric_attr->prov_name;
    copy_text(name.provider, core, core_length(core));
    copy_text(name.domain, one->domain_attr->name, SIZE_MAX);
    copy_text(name.fabric, one->fabric_attr->name, SIZE_MAX);
    if (one->nic != nullptr && one->nic->link_attr != nullptr) {
      name.bit_per_s = one->nic->link_attr->speed;
    }
    const auto same = [&](const OfiName& other) {
      return std::strcmp(other.provider, name.provider) == 0 &&
             std::strcmp(other.domain, name.domain) == 0;
    };
    if (std::any_of(out, out + std::min(count, most), same)) continue;
    if (count < most) out[count] = name;
    ++count;
  }
  return count;
}

OfiPort* open(const OfiName* name, bool flush, OfiTrouble* trouble) {
  auto port = std::make_unique<OfiPort>();
  OfiInfo found = find_domains(name->provider, name->domain, name->fabric);
  const fi_info* one = found.get();
  const auto other = [&] {
    return !same_core(one->fabric_attr->prov_name, name->provider) ||
           std::strcmp(one->domain_attr->name, name->domain) != 0 ||
           std::strcmp(one->fabric_attr->name, name->fabric) != 0;
  };
  while (one != nullptr && other()) one = one->next;
  if (one == nullptr) {
    std::snprintf(trouble->text, sizeof trouble->text, "it is gone");
    return nullptr;
  }
  port->info = OfiInfo(fi_dupinfo(one));
  port->flush = flush;
  fi_info& info = *port->info;
  if (fails(fi_fabric(info.fabric_attr, &port->fabric, nullptr), "fi_fabric", trouble) ||
      fails(fi_domain(port->fabric, &info, &port->domain, nullptr), "fi_domain", trouble) ||
      !port->open_endpoint(trouble)) {
    return nullptr;
  }
  return port.release();
}

void close(OfiPort* port) {
  delete port;
}

bool renew(OfiPort* port, OfiTrouble* trouble) {
  port->close_endpoint();
  return port->open_endpoint(trouble);
}

OfiPortFacts facts(const OfiPort* port) {
  const bool local = (port->info->domain_attr->mr_mode & FI_MR_LOCAL) != 0;
  return {local, port->descriptor};
}

std::size_t address(OfiPort* port, void* out, std::size_t room) {
  std::size_t size = room;
  return fi_getname(&port->endpoint->fid, out, &size) == 0 && size <= room ? size : 0;
}

bool add_peer(OfiPort* port, const void* address, std::size_t size, std::uint64_t* peer) {
  std::vector<std::byte> copy(
      std::max<std::size_t>(size, 256));  // Providers read what they expect.
  std::memcpy(copy.data(), address, size);
  fi_addr_t added = FI_ADDR_UNSPEC;
  if (fi_av_insert(port->peers, copy.data(), 1, &added, 0, nullptr) != 1) return false;
  *peer = added;
  return true;
}

bool open_memory(OfiPort* port, void* data, std::size_t size, std::uint64_t wish, OfiMemory* out) {
  return port->open_memory(data, size, wish, out);
}

void close_memory(void* handle) {
  auto* memory = static_cast<fid_mr*>(handle);
  close_one(memory);
}

void write(OfiPort* port, const OfiWrite* write) {
  port->write(*write);
}

int poll(OfiPort* port, OfiDone* out, int most) {
  port->poll();
  int count = 0;
  while (count < most && port->next_done(out[count])) ++count;
  return count;
}

bool may_sleep(OfiPort* port) {
  if (!port->idle()) return false;
  fid* waits[] = {&port->queue->fid};
  return port->descriptor < 0 || fi_trywait(port->fabric, waits, 1) == 0;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const OfiPlugin weft_wire_ofi_v1;
const OfiPlugin weft_wire_ofi_v1 = {list,     open,        close,        renew, facts, address,
                                    add_peer, open_memory, close_memory, write, poll,  may_sleep};

}  // namespace weft::wire
