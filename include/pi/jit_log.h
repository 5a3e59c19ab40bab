// SPDX-License-Identifier: MIT
// Layout of JProf's logs of names, log-jita2n and log-jtnm, shared by their writer (jprof) and
// their readers. docs/man/log-jita2n.5 and log-jtnm.5 have the full description.
//
// Both are text, a line each; numbers are hexadecimal without prefix unless a line says otherwise.
// Our additions to the classic format are lines that begin with "# ", at most addition_line_max
// bytes long and never between a record and its bytes of code: a reader of the classic format skips
// them, and our readers skip lines with an unknown word. Only the last line of a log may be
// incomplete (the JVM was killed, or is writing it).
//
// Times are 64 bits: nanoseconds of the trace's clock, CLOCK_MONOTONIC of the initial time
// namespace. Lines are nearly, not strictly, in the order of time.
#ifndef PI_JIT_LOG_H
#define PI_JIT_LOG_H

#include <cstddef>
#include <cstdint>

namespace pi::jit_log {

constexpr uint32_t version = 1;  // of the additions; another version may redefine words

// ---- names of the files ---------------------------------------------------------------------
// DIRECTORY/PREFIX-KIND_PID SUFFIX, without the blank; "_PID" (decimal) is missing after NOPIDX.
// The pid is the one that the JVM sees, which in a container is not the trace's: compare
// head::pid_ns.
constexpr char jita2n_kind[] = "jita2n";
constexpr char jtnm_kind[] = "jtnm";
constexpr char default_prefix[] = "log";

// ---- log-jita2n: the classic lines ------------------------------------------------------------
// The beginning of the file; each of these lines starts with a blank. "64" in the platform's line
// means 64-bit addresses. The pid is decimal.
constexpr char title[] = " JitA2N";
constexpr char encoding[] = " BINARY DATA IN PRINTABLE HEX";
constexpr char platform[] = " Linux x86_64";
constexpr char process[] = " Process_Number_ID=";

// " SeqNo N", N decimal: the records up to the next such line were written in trace interval N. In
// both logs; missing if the agent knew of no trace. Our times do not need it: they are comparable
// between traces.
constexpr char interval[] = " SeqNo ";

// A record, JIT-compiled or other generated code: six fields, separated by blanks:
//   TIMEHIGH TIMELOW ADDRESS SIZE FLAGS NAME
// TIMEHIGH and TIMELOW have 8 digits each. The time is that of the JVM's event, which comes after
// the code was installed: an upper bound for its beginning. SIZE is in bytes. NAME is
// class.method(arguments)result, the class with '/' between packages and the rest as in a class
// file, in UTF-8; for other code (stubs, adapters, the interpreter) it is the JVM's name of it.
// Blanks and control characters are '_'. Linkers of method handles, which HotSpot does not
// distinguish, all are "java/lang/invoke/MethodHandle.<linker>". A name has at most name_max bytes;
// longer ones are cut and end with "...".
constexpr uint32_t flag_code = 1;     // lines of code bytes follow: code_bytes_per_line in each but
                                      // the last, two digits a byte
constexpr uint32_t flag_dynamic = 2;  // not a Java method: a stub, an adapter, the interpreter ...;
                                      // valid until other code replaces it: the JVM reports no end
constexpr uint32_t flag_existing =
    4;  // our addition: code that existed before its time, since an unknown moment; the JVM
        // reported it on request, possibly with less detailed inlining
constexpr size_t code_bytes_per_line = 32;
constexpr size_t name_max = 16384;

// ---- our additions ------------------------------------------------------------------------------
constexpr char addition[] = "# ";
constexpr size_t addition_line_max =
    1000;  // bytes, line feed included; those with a name may be longer

// "# head KEY=VALUE ..." in both logs, after the classic beginning, and again when the agent
// restarted in the same process (detached and attached). Values have no blanks; unknown keys are
// ignored.
constexpr char head_word[] = "head";
namespace head {
constexpr char version[] = "version";  // decimal, jit_log::version
constexpr char agent[] = "agent";      // version of JProf
constexpr char clock[] = "clock";    // "CLOCK_MONOTONIC"; "namespace" if the JVM's clock is that of
                                     // its own time namespace whose offset is unknown
constexpr char offset[] = "offset";  // decimal, nanoseconds subtracted from the JVM's own
                                     // CLOCK_MONOTONIC, 0 outside of a time namespace
constexpr char pid[] = "pid";        // decimal, in the JVM's pid namespace
constexpr char pid_ns[] =
    "pidns";  // decimal, inode of its pid namespace; 0: unknown. With the pid it matches the
              // trace's records 19/68 of processes in containers
constexpr char started[] = "started";    // start time of the process, exact to 10 milliseconds;
                                         // distinguishes it from others with the same pid
constexpr char begun[] = "begun";        // the log is complete from this time
constexpr char attached[] = "attached";  // "start": with the JVM; "late": to a running JVM, so that
                                         // code that existed only before begun is missing
constexpr char jvm[] = "jvm";            // its name and version
}  // namespace head

// "# unload TIMEHIGH TIMELOW ADDRESS": the compiled method at ADDRESS was unloaded. The JVM reports
// this before it puts other code there.
constexpr char unload_word[] = "unload";

// "# method ID FILE NAME": gives a method a number, in this section (head to head) only; before its
// first use. FILE is the class's source file without directories, or "-". NAME as in a record.
constexpr char method_word[] = "method";
// "# lines ID BCI:LINE BCI:LINE ...": lines (decimal) of a method; each is valid from its bytecode
// index up to the next larger BCI. Not sorted. Several such lines add up.
constexpr char lines_word[] = "lines";

// "# frames PARENT:METHOD:BCI ..." and "# ranges END:FRAME ...": inlined code of the preceding
// record. Several such lines add up. A method that a debugger redefined has a new number.
//
// Frames are numbered from 1 in the order of these lines. PARENT is the number of the frame into
// which this one is inlined, always a smaller one, 0 for the outermost; METHOD is the ID of the
// frame's method, BCI the bytecode index in it, "-" if the JVM does not report it.
//
// A range reaches from the END of the previous one (the first: from 0) up to, not including, END,
// in bytes from the record's address; FRAME is the innermost frame there. ENDs increase. Code after
// the last END (exception handlers, stubs) has only the record's name. A return address belongs to
// the range of the byte before it.
constexpr char frames_word[] = "frames";
constexpr char ranges_word[] = "ranges";
constexpr char unknown_bci[] = "-";

// "# lost N TIMEHIGH TIMELOW TIMEHIGH TIMELOW": N (decimal) events between these times could not be
// written (disk full): from the first time on, addresses in the code of these events may get wrong
// names.
constexpr char lost_word[] = "lost";

// "# end TIMEHIGH TIMELOW REASON": the log has no events after this time; code that was not
// unloaded is still valid at that time. REASON is "exit" or "detach". Missing if the JVM was
// killed.
constexpr char end_word[] = "end";
constexpr char end_exit[] = "exit";
constexpr char end_detach[] = "detach";

// ---- log-jtnm -----------------------------------------------------------------------------------
// "TNM: TIME TID NAME START" when a thread starts or is found running (after a late attach), and
// "TNM: TIME TID NAME END" at its end. TIME has 16 digits, TID is the kernel's thread id in the
// JVM's pid namespace. In NAME blanks, double quotes and control characters are '_'; it is never
// empty. A renamed thread ends with another name than it started with.
constexpr char thread_word[] = "TNM: ";
constexpr char thread_start[] = " START";
constexpr char thread_end[] = " END";

// "# mount TIME TID NAME": the thread carries this virtual thread, up to the next such line or
// "# unmount TIME TID" of the same TID. NAME is "#ID" or "#ID,NAME" (ID decimal), with the rules of
// other names. Only with the agent's option VTHREADS.
constexpr char mount_word[] = "mount";
constexpr char unmount_word[] = "unmount";

// ---- hooks into a running trace -----------------------------------------------------------------
// Records 19/41 and 19/42 contain only data of the logs: they place the JVM's events in the trace.
// Ints of 19/41: interval id, pid, time low, time high, address low; no strings. Ints of 19/42:
// interval id, pid, time low, time high, tid, thread_hook_*; one string, the name.

}  // namespace pi::jit_log

#endif  // PI_JIT_LOG_H
