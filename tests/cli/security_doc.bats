#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Each test that docs/security.md names must exist.

@test "every test that docs/security.md names exists, and every row of its tables above the budgets names one" {
  cd "$SOURCE_DIR"
  python3 - <<'END'
import glob, re, sys

text = open('docs/security.md').read()
promises = text[:text.index('\n## Budgets of readers')]
cases = set()
for name in glob.glob('tests/unit/**/*.cpp', recursive=True):
    cases |= {'.'.join(found) for found in re.findall(r'^TEST(?:_F|_P)?\((\w+), (\w+)\)', open(name).read(), re.M)}
wrong = []
named = 0
for reference in re.findall(r'`([^`]+)`', promises):
    reference = re.sub(r'\s+', ' ', reference)
    bats = re.fullmatch(r'((?:cli|proofs|lab|long)/[\w-]+): (.+)', reference)
    if bats:
        try:
            known = re.findall(r'^@test "(.*)" \{$', open(f'tests/{bats[1]}.bats').read(), re.M)
        except FileNotFoundError:
            known = []
        if bats[2] not in known:
            wrong.append(reference)
    elif re.fullmatch(r'[A-Z]\w+\.[A-Z]\w+', reference):
        if reference not in cases:
            wrong.append(reference)
    else:
        continue
    named += 1
for row in re.findall(r'^\|.*\|$', promises, re.M):
    last = row.rstrip('|').rsplit('|', 1)[1]
    if '`' not in last and last.strip() not in ('Test', '---'):
        wrong.append('no test: ' + row)
print(named, 'tests are named')
print('\n'.join(wrong))
sys.exit(bool(wrong) or named < 50)
END
}
