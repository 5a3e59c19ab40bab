// SPDX-License-Identifier: MIT
// JProf's options, and those of Performance Inspector that it refuses.
#include "option_table.h"

namespace pi::jprof {
namespace {

constexpr OptionWord known[] = {
    {Word::tprof, "TPROF", "ITRACE", Takes::no_value, "",
     "JITA2N, JINSTS, THREADINFO and VTHREADS"},
    {Word::jita2n, "JITA2N", "", Takes::no_value, "",
     "write log-jita2n: names, addresses and times of JIT-compiled code"},
    {Word::thread_info, "THREADINFO", "", Takes::no_value, "", "write log-jtnm: names of threads"},
    {Word::virtual_threads, "VTHREADS", "", Takes::no_value, "",
     "write to log-jtnm which virtual thread each thread carries (implies THREADINFO)"},
    {Word::code_bytes, "JINSTS", "", Takes::no_value, "",
     "write the bytes of the code to log-jita2n (implies JITA2N)"},
    {Word::call_tree, "CALLTREE", "", Takes::no_value, "",
     "write log-rt: how often each method was called, from where"},
    {Word::call_flow, "CALLFLOW", "", Takes::no_value, "",
     "CALLTREE with METRICS=PTT_INSTS+PTT_CYCLES, or what of these can be measured"},
    {Word::call_trace, "CALLTRACE", "GENERIC", Takes::no_value, "",
     "write log-gen: a line for each entry and exit, with PTT_INSTS"},
    {Word::locks, "JLM", "JLMSTART", Takes::no_value, "",
     "write log-jlm: how often each monitor was entered, and how long it was held"},
    {Word::locks_lite, "JLML", "JLMSTARTLITE", Takes::no_value, "", "JLM without hold times"},
    {Word::sampling, "SCS", "SAMPLING", Takes::switch_or_value, "E=N+",
     "write log-rt: in which methods threads use the processor, by samples of their stacks; with "
     "=E "
     "where one of N events occurs: ALLOCATED_BYTES, ALLOCATIONS=N:BYTES, MONITOR_WAIT, "
     "MONITOR_WAITED, MONITOR_CONTENDED_ENTER, MONITOR_CONTENDED_ENTERED, CLASS_LOAD; + shows the "
     "class of the object"},
    {Word::sampling_rate, "SCS_RATE", "", Takes::value, "N",
     "samples in a second of a thread's processor time, 1 to 1000 (32)"},
    {Word::sampling_frames, "SCS_FRAMES", "", Takes::value, "N",
     "the most frames of a stack, 1 to 16384 (2048)"},
    {Word::sampling_walk, "SCS_WALK", "", Takes::value, "W",
     "how stacks are found: ASYNC, at any moment, or SAFEPOINT, biased, for JVMs without it "
     "(ASYNC)"},
    {Word::sampling_native, "SCS_A2N", "", Takes::no_value, "",
     "with SCS by time, also the functions of native code that methods of Java called"},
    {Word::heap_dump, "HD", "HEAPDUMP", Takes::no_value, "",
     "write log-hd, a heap dump: when the JVM ends, at once when attaching, and on the command HD "
     "of rtdriver"},
    {Word::metrics, "METRICS", "", Takes::value, "M+M",
     "what is measured, at most 8: NONE, PTT_INSTS, PTT_CYCLES, RAW_CYCLES, THREAD_CLOCK, CPI, "
     "LAT_CYCLES, CACHE_MISSES, BRANCH_INSTS, BRANCH_MISSES, names of events (NONE)"},
    {Word::no_metrics, "NOMETRICS", "", Takes::command, "", "METRICS=NONE"},
    {Word::all_metrics, "ALLMETRICS", "", Takes::command, "", "METRICS=PTT_INSTS+PTT_CYCLES+CPI"},
    {Word::object_info, "OBJECTINFO", "", Takes::no_value, "",
     "with CALLTREE, count the objects that each method allocates (AO) and their bytes (AB)"},
    {Word::live_objects, "LIVEOBJECTS", "", Takes::no_value, "",
     "OBJECTINFO, and of these objects those still in use when log-rt is written (LO, LB)"},
    {Word::events, "EVENTS", "", Takes::value, "E",
     "how calls are found: PROBES in the classes, or JVMTI: events of the JVM, very slow (PROBES)"},
    {Word::calibrate, "CALIBRATE", "", Takes::no_value, "",
     "subtract the cost of the probes from METRICS (on)"},
    {Word::minima, "MINIMA", "", Takes::value, "FILE", "load observed minima, for CALIBRATE"},
    {Word::save_minima, "SAVEMINIMA", "", Takes::value, "FILE", "store the observed minima"},
    {Word::environmental_minima, "ENVMINIMA", "", Takes::value, "FILE",
     "load environmental minima"},
    {Word::start, "START", "BEGIN", Takes::no_value, "",
     "record calls or samples from the beginning, not from the command START of rtdriver on; "
     "JLM,NOSTART waits for JLMSTART, HD,NOSTART for HD"},
    {Word::server, "SERVER", "RTDRIVER", Takes::no_value, "",
     "with CALLTREE, JLM, SCS or HD, accept commands of rtdriver from this user and root (on)"},
    {Word::server, "SOCKET", "", Takes::no_value, "", "old word for SERVER"},
    {Word::port, "PORT", "", Takes::value, "N",
     "accept commands also at the first free TCP port of N to N+7, of this machine, with a key"},
    {Word::log_commands, "LOGRTDCMDS", "", Takes::no_value, "",
     "report each command of rtdriver on stderr"},
    {Word::method_types, "METHODTYPES", "", Takes::no_value, "",
     "write a letter before each method: I interpreted, J compiled, N native (on)"},
    {Word::legend, "LEGEND", "", Takes::no_value, "", "write a list of these letters (on)"},
    {Word::json, "JSON", "", Takes::no_value, "", "write log-rt, log-gen and log-jlm as JSON, too"},
    {Word::folded, "FOLDED", "", Takes::no_value, "",
     "write folded stacks, the input of flame graphs"},
    {Word::log_path, "LOGPATH", "", Takes::value, "DIR", "directory of the logs (.)"},
    {Word::log_prefix, "LOGPREFIX", "", Takes::value, "P", "first part of the names of logs (log)"},
    {Word::log_suffix, "LOGSUFFIX", "", Takes::value, "S", "last part of the names of logs"},
    {Word::path_and_prefix, "FNM", "", Takes::value, "DIR/P",
     "old form of LOGPATH=DIR,LOGPREFIX=P"},
    {Word::pid_in_names, "PIDX", "", Takes::no_value, "", "_PID is part of the names of logs (on)"},
    {Word::config, "CONFIG", "", Takes::value, "FILE",
     "read options from FILE: separated by commas, blanks and line feeds; // starts a comment "
     "line"},
    {Word::verbose, "VERBOSE", "", Takes::no_value, "",
     "report on stderr when JProf starts and ends"},
    {Word::verbose_to_log, "VERBMSG", "", Takes::no_value, "", "report this in the file log-msg"},
    {Word::detach, "DETACH", "", Takes::command, "",
     "only when attaching: end the logs and receive no more events"},
    {Word::help, "HELP", "", Takes::command, "", "print this help and continue"},
    {Word::all_help, "ALLHELP", "", Takes::command, "",
     "print this help and the refused options, and continue"},
    {Word::version, "VERSION", "", Takes::command, "", "print the version and continue"},
};

constexpr std::string_view call_flow =
    "belongs to a part of call-flow profiling that this version does not have";

constexpr RefusedWords refused[] = {
    {"RTARCF JSTEM OBJRECS MINALLOC SOBJS FGC FLUSHAFTERGC STATDYN "
     "RECOMP TSNODES TSNODES_HR PNODE IDPNODE EXITPOP METHODINLINING "
     "DIRECTJNI "
     "EXITNORC PRUNECALLSTACKS ECS HR HUMANREADABLE NEWHEADER VPA63 THREADS CLASSMETHODS "
     "OBJECTCLASSES GCINFO CLASSLOADINFO COMPILINGSTARTEND COMPILELOADINFO COMPILED COMPILERGCINFO "
     "REVTREE "
     "BASE TBE NEVERACTIVE ENEXCS CHECKNODEDEPTH TAGGING DLO",
     call_flow},
    {"SCS_EVENT SCS_COUNT", "would sample by hardware events: run.tprof does, with -e"},
    {"SCS_VERBOSE SCS_DEBUG THREADLISTSAMPLING",
     "was for debugging the sampling of Performance Inspector"},
    {"LOCKDIS", "was for the lock monitor of IBM's virtual machines"},
    {"DELAY_START", "was the word for NOSTART, which is the default"},
    {"SHUTDOWN_EVENT ENABLERECONFIG RECONFIG",
     "belongs to a part of the commands at run time that this version does not have"},
    {"JPA", "was for AIX"},
    {"ASID PIDLIST", "was for z/OS"},
    {"SUN SUNJVM JITFLAGS", "was for Java virtual machines before JVMTI"},
    {"HC HEALTHCENTER", "was for running inside Health Center"},
    {"FORCE", "made JProf continue after errors; now it always continues where that is possible"},
    {"MASK PROTOTYPE STDERR MSGLIMIT CHASHB OHASHB MHASHB SHASHB THASHB DEALLOC_FRAME_BUFFER",
     "was for tuning and debugging JProf of Performance Inspector"},
};

}  // namespace

std::span<const OptionWord> option_words() {
  return known;
}

std::span<const RefusedWords> refused_words() {
  return refused;
}

}  // namespace pi::jprof
