// SPDX-License-Identifier: MIT
// Calls Java methods that do nothing: what is measured in them is overhead of the probes.
#ifndef PI_JPROF_TRAINER_H
#define PI_JPROF_TRAINER_H

#include <jvmti.h>

#include <pi/result.h>

namespace pi::jprof {

// Calls the methods of type, the class that Trainer.java generates, with probes: interpreted ones
// more often than callflow::settled_after, the others until the JVM has compiled them. In this
// thread; takes about a tenth of a second, with slow metrics half a second.
Status train(JNIEnv* jni, jclass type);

}  // namespace pi::jprof

#endif  // PI_JPROF_TRAINER_H
