"""Fails where the object of a plain file holds wide instructions, or where the linker could give it a function of a
file built for a wider machine: one that both objects define and whose wide version uses wide registers.

check_symbols.py PLAIN.o NATIVE.o
check_symbols.py --alone NATIVE.o...    every plain object might define what these do, but for what says how it is built
"""
import re
import subprocess
import sys


def functions(path):
    """Name -> True if its code uses ymm or zmm registers."""
    text = subprocess.run(['objdump', '-d', '--no-show-raw-insn', path], capture_output=True, text=True, check=True).stdout
    wide, name = {}, None
    for line in text.splitlines():
        head = re.match(r'^[0-9a-f]+ <(.+)>:$', line)
        if head:
            name = head.group(1)
            wide[name] = False
        elif name and re.search(r'%[yz]mm|%k[1-7]', line):
            wide[name] = True
    return wide


def weak(path):
    text = subprocess.run(['nm', path], capture_output=True, text=True, check=True).stdout
    return {line.split()[-1] for line in text.splitlines() if len(line.split()) == 3 and line.split()[1] in 'Ww'}


def of_library(names):
    """The functions of the library itself, as people read them."""
    ours = sorted(n for n in names if re.match(r'_ZN?K?(St)?8cudarray', n))
    return subprocess.run(['c++filt'], input='\n'.join(ours), capture_output=True, text=True, check=True).stdout.splitlines()


def main():
    if sys.argv[1] == '--alone':
        shared = {(n, path) for path in sys.argv[2:] for n in weak(path) & {n for n, w in functions(path).items() if w}
                  if not re.search('B6avx512|B3avx|build_config', n)}
        failures = [f'{n}: may be shared, is wide' for n in of_library({n for n, _ in shared})]
    else:
        plain, native = sys.argv[1:]
        of_native, shared = functions(native), weak(plain) & weak(native)
        failures = [f'{n}: wide instructions in {plain}' for n, w in functions(plain).items() if w]
        failures += [f'{n}: shared by both objects, wide in {native}'
                     for n in of_library(n for n in shared if of_native.get(n))]
    for f in failures:
        print(f[:300])
    print(f'symbols: {len(shared)} shared, {len(failures)} failed')
    return 1 if failures else 0


if __name__ == '__main__':
    sys.exit(main())
