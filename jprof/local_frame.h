// SPDX-License-Identifier: MIT
// Local references of JNI that end with a block.
#ifndef PI_JPROF_LOCAL_FRAME_H
#define PI_JPROF_LOCAL_FRAME_H

#include <jni.h>

namespace pi::jprof {

constexpr jint local_references_max = 1 << 16;  // the largest number that HotSpot accepts

class LocalFrame {
 public:
  LocalFrame(JNIEnv* jni, jint references)
      : jni_(jni), good_(jni->PushLocalFrame(references) == JNI_OK) {
    if (!good_) jni_->ExceptionClear();
  }
  ~LocalFrame() {
    if (good_) jni_->PopLocalFrame(nullptr);
  }
  LocalFrame(const LocalFrame&) = delete;
  LocalFrame& operator=(const LocalFrame&) = delete;
  bool good() const { return good_; }

 private:
  JNIEnv* const jni_;
  const bool good_;
};

}  // namespace pi::jprof

#endif  // PI_JPROF_LOCAL_FRAME_H
