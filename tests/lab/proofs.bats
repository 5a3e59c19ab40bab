#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Runs accuracy tests of tests/proofs with the module in a guest. PROOFS names them, LAB_OPTIONS are options of the lab,
# LAB_KERNELS is the kernel: see CMakeLists.txt, which makes one test for each group. LAB_TAGS selects tests with the tags
# long and lab:long. The guest's output in CTest's log has the times of the tests and the skipped ones.

@test "the tests of tests/proofs pass with the module" {
  local files=() options=() proof
  for proof in ${PROOFS:?must name the accuracy tests}; do files+=("tests/proofs/$proof.bats"); done
  read -ra options <<<"${LAB_OPTIONS:-}"
  PITRACE_WERROR=1 "$SOURCE_DIR/scripts/lab" --kernel "${LAB_KERNELS:?}" --timeout 1200 "${options[@]}" -- \
    env BUILD_DIR="$BUILD_DIR" SOURCE_DIR="$SOURCE_DIR" STAGE="${STAGE:?must be the folder with the installed programs}" PROOF_SOURCE=driver \
    PITRACE_CACHE="${PITRACE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/pitrace}" LAB_TAGS="${LAB_TAGS-}" \
    bats -T --filter-tags "${LAB_TAGS:-!long,!lab:long}" "${files[@]}" > >(sed 's/^/# /' >&3)
}
