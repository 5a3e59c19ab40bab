// SPDX-License-Identifier: MIT
// swtrace ptt_int: whether PTT charges interrupts to a separate account or to the interrupted
// thread.
#include "cli.h"
#include "commands.h"
#include "perfutil_ptt.h"

namespace pi::swtrace {

int cmd_ptt_int(const Words& words) {
  cli::OptionTable table(
      {"swtrace ptt_int on|off",
       "Selects how PTT (per-thread time) counts interrupts. on: separately from the interrupted "
       "thread (the default). off: as part of the interrupted thread. The setting applies from the "
       "next 'ptt init' until the module is unloaded. 'ptt ints' and 'ptt noints' do the same.",
       {"swtrace ptt_int off"},
       "Exit status: 0 done, 1 failed, 255 wrong use."});
  table.positional("word", 1);
  const auto outcome = table.parse(words);
  if (outcome.exit) return *outcome.exit;
  const std::string word = outcome.values.has("word") ? outcome.values.words("word").front() : "";
  if (word != "on" && word != "off") {
    cli::error("Give on or off: swtrace ptt_int on|off.");
    return cli::exit_usage;
  }
  if (PiPttInterrupts(word == "on" ? 1 : 0) == PU_SUCCESS) return cli::exit_good;
  cli::error(PiErrorText());
  return cli::exit_failure;
}

}  // namespace pi::swtrace
