// SPDX-License-Identifier: MIT
// The daemon that owns a trace from 'swtrace init' to 'swtrace free'.
#include "recorder.h"

#include "perfutil.h"
#include "service.h"

namespace pi::swtrace {
namespace {

Reply initialise(const InitRequest& request) {
  int rc = PiSetSource(request.source);
  if (rc == PU_SUCCESS) rc = TraceSetScope(request.scope, request.pid);
  if (rc == PU_SUCCESS) rc = TraceSetMteSize(request.mte_bytes);
  if (rc == PU_SUCCESS) rc = TraceSetMode(request.mode);
  if (rc == PU_SUCCESS) rc = TraceSetName(request.file.c_str());
  if (rc == PU_SUCCESS) rc = TraceSetSectionSize(request.section_bytes);
  if (rc == PU_SUCCESS) rc = SetTraceAnonMTE(request.anonymous);
  if (rc == PU_SUCCESS) rc = TraceInit(request.trace_bytes);
  if (rc != PU_SUCCESS) return {rc, PiErrorText()};
  // The status contains the source, which init prints.
  bool asked_to_end = false;
  return answer({"status"}, asked_to_end);
}

}  // namespace

Reply start_recorder(const InitRequest& request, const std::string& path) {
  return service::start_service({recorder_names, path, [&] { return initialise(request); }, answer,
                                 [] { (void)TraceTerminate(); }});
}

}  // namespace pi::swtrace
