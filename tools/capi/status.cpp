// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <new>
#include <system_error>

#include "isa/base/error.h"
#include "tools/capi/handles.h"

namespace vinci::capi {
namespace {

thread_local std::string t_error;

}  // namespace

vinci_status failure(vinci_status status, const std::string& text) {
  t_error = text;
  return status;
}

vinci_status guarded(const std::function<void()>& body) {
  try {
    body();
    return VINCI_OK;
  } catch (const Error& e) {
    return failure(static_cast<vinci_status>(e.fault()), e.what());
  } catch (const std::bad_alloc&) {
    return failure(VINCI_ERROR_LIMIT, "out of memory");
  } catch (const std::system_error& e) {
    return failure(VINCI_ERROR_LIMIT, std::string("the system refuses: ") + e.what());
  } catch (const std::exception& e) {
    return failure(VINCI_ERROR_INTERNAL, e.what());
  }
}

}  // namespace vinci::capi

extern "C" {

uint32_t vinci_version(void) { return VINCI_VERSION_MAJOR << 16 | VINCI_VERSION_MINOR << 8 | VINCI_VERSION_PATCH; }
const char* vinci_version_text(void) { return VINCI_VERSION; }
const char* vinci_last_error(void) { return vinci::capi::t_error.c_str(); }

const char* vinci_status_name(vinci_status status) {
  if (status == VINCI_OK) return "ok";
  if (status < VINCI_ERROR_INPUT || status > VINCI_ERROR_INTERNAL) return "unknown";
  return vinci::fault_name(static_cast<vinci::Fault>(status)).data();  // of a literal
}
}
