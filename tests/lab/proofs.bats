#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Proofs of tests/proofs with the module, in a guest. PROOFS names them, LAB_OPTIONS are the guest's, LAB_KERNELS is its
# kernel: see CMakeLists.txt, which makes a test of each group. Tests with the tags long and lab:long run where LAB_TAGS
# lets them. What the guest says is in CTest's log: which tests took long there, and which were left out.

@test "the tests of tests/proofs pass with the module" {
  local files=() options=() proof
  for proof in ${PROOFS:?names the proofs}; do files+=("tests/proofs/$proof.bats"); done
  read -ra options <<<"${LAB_OPTIONS:-}"
  PITRACE_WERROR=1 "$SOURCE_DIR/scripts/lab" --kernel "${LAB_KERNELS:?}" --timeout 1200 "${options[@]}" -- \
    env BUILD_DIR="$BUILD_DIR" SOURCE_DIR="$SOURCE_DIR" STAGE="${STAGE:?is where the programs are installed}" PROOF_SOURCE=driver \
    LAB_TAGS="${LAB_TAGS-}" bats -T --filter-tags "${LAB_TAGS:-!long,!lab:long}" "${files[@]}" > >(sed 's/^/# /' >&3)
}
