// SPDX-License-Identifier: MIT
// Writes post.show: every record as one line of text.
#ifndef POST_REPORT_SHOW_H
#define POST_REPORT_SHOW_H

#include <memory>
#include <optional>

#include "read/stream.h"
#include "read/subscriber.h"
#include "report.h"
#include "text/sink.h"

namespace post {

class ShowReport final : public Subscriber {
 public:
  // raw: a line with the record's words in hex precedes each. begin: the time from which a column
  // counts seconds; none: there is no such column. The sink must outlive this.
  ShowReport(Sink& sink, bool raw, std::optional<uint64_t> begin = {});

  // Writes the line of the stream's record.
  void add(const Stream& stream);
  void subscribe(Subscriptions& to) override { to.add_to_every_major(*this); }
  bool take(const Arrival& arrival) override {
    if (arrival.in_range) add(arrival.stream);
    return true;
  }
  void end_trace() override { finish(); }
  // Flushes to the sink; false when something could not be written.
  bool finish();
  bool good() const { return good_; }

 private:
  void put(char c) { *at_++ = c; }
  void put_hex(uint32_t value);
  void put_hex8(uint32_t value);
  template <unsigned base>
  void put_right(uint64_t value, unsigned width);
  void put_raw(const pi::RecordView& record);
  void put_seconds(uint64_t time);
  void put_strings(const pi::RecordView& record);
  void put_escaped(std::string_view text);
  void flush();

  Sink& sink_;
  const bool raw_;
  const std::optional<uint64_t> begin_;
  bool good_ = true;
  std::unique_ptr<char[]> buffer_;
  char* at_;
};

// Makes a ShowReport, which writes the whole file.
std::unique_ptr<Subscriber> make_show(const ReportContext& context, Sink* sink);

}  // namespace post

#endif  // POST_REPORT_SHOW_H
