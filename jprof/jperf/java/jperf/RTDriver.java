// SPDX-License-Identifier: MIT
package jperf;

import java.util.Objects;

/**
 * Sends commands to JProf in a Java virtual machine, as the program {@code rtdriver} does: start, stop,
 * flush, reset and others. The virtual machine needs the agent with CALLTREE, CALLFLOW, JLM or HD, and
 * must be of the same user. The commands "hd" and "hdf" dump the heap; the answer has the file's name.
 *
 * <pre>{@code
 * RTDriver jprof = new RTDriver();
 * jprof.command("start");
 * work();
 * jprof.command("flush");
 * }</pre>
 */
public final class RTDriver {
    private final int pid;

    /** Commands for JProf in this virtual machine. */
    public RTDriver() {
        this(0);
    }

    /**
     * Commands for JProf in another virtual machine.
     *
     * @param pid its process id; 0: this one
     * @throws PerfException for a pid below 0
     */
    public RTDriver(int pid) {
        if (pid < 0) {
            throw new PerfException(PerfException.INVALID_PARAMETER, "A process id is not below 0.");
        }
        this.pid = pid;
    }

    /**
     * Sends a command and waits until it is done, at most two minutes.
     *
     * @param command for example start, stop, flush or reset; upper and lower case are the same
     * @return the answer's text, which may be empty
     * @throws PerfException if it was not done: no such process, no JProf, or JProf's reason
     */
    public String command(String command) {
        return Native.command(pid, Objects.requireNonNull(command));
    }
}
