"""Fails where the object of a plain file holds wide instructions, or where the linker could give it a function of a
file built for a wider machine: one that both objects define and whose wide version uses wide registers.

check_symbols.py PLAIN.o NATIVE.o
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


def main():
    plain, native = sys.argv[1:3]
    of_plain, of_native = functions(plain), functions(native)
    failures = [f'{n}: wide instructions in {plain}' for n, w in of_plain.items() if w]
    shared = weak(plain) & weak(native)
    ours = [n for n in shared if 'cudarray' in n and of_native.get(n)]
    names = subprocess.run(['c++filt'], input='\n'.join(ours), capture_output=True, text=True, check=True).stdout
    failures += [f'{n}: shared by both objects, wide in {native}' for n in names.splitlines()]
    for f in failures:
        print(f[:300])
    print(f'symbols: {len(shared)} shared, {len(failures)} failed')
    return 1 if failures else 0


if __name__ == '__main__':
    sys.exit(main())
