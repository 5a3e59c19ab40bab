// SPDX-License-Identifier: MIT
// The table of all reports, and the subscribers that the requested reports need.
#ifndef POST_REPORTS_H
#define POST_REPORTS_H

#include <pi/result.h>

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "report.h"

namespace post {

// All reports in the order in which they are written.
std::span<const Report> reports();

// Of all files that the options ask for.
std::vector<std::string> report_paths(const Options& options);

// Whether a requested report is made from this trace. Beside a page, a report without data is left
// out; otherwise main fails.
bool is_made(const Report& report, const Options& options, const Summary& summary);

class ReportSubscribers {
 public:
  // Returns the file of a streamed report, which must outlive this.
  using OpenSink = std::function<pi::Result<Sink*>(const Report& report)>;

  // Makes the subscribers that the reports in context.options need, and no others.
  pi::Status make(const ReportContext& context, const OpenSink& open);
  // They subscribe in the order of the table; after Processes, whose state they use.
  void subscribe(Subscriptions& to) const;
  // For Summary::counts.
  std::vector<const Subscriber*> all() const;

 private:
  struct Made {
    MakeSubscriber by;
    std::unique_ptr<Subscriber> subscriber;
  };
  std::vector<Made> made_;
};

}  // namespace post

#endif  // POST_REPORTS_H
