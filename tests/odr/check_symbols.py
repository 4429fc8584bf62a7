"""Fails where the object of a plain file holds wide instructions, or where the linker could give it a function of a
file built for a wider machine: one that both objects define and whose wide version uses wide registers. Or where a file
built with -ffast-math and one built without share a function that computes, or calls one that does, in different ways.
Or where a variable that is written lies in the namespace of a build: each build would have its own.

check_symbols.py PLAIN.o NATIVE.o
check_symbols.py --alone NATIVE.o...    every plain object might define what these do, but for what says how it is built
check_symbols.py --arithmetic COMPILER SOURCE
"""
import pathlib
import re
import subprocess
import sys
import tempfile


BUILD = re.compile(r'\d(?:avx512f?|avx2?|base)_[fbohc]*_(?:ieee|fast)')  # in mangled names: a namespace or a tag


def variables_of_builds(path):
    """The variables in the namespace of a build that are written. Those in functions are facts that are kept."""
    text = subprocess.run(['objdump', '-t', path], capture_output=True, text=True, check=True).stdout
    names = re.findall(r' (?:\.bss|\.data|\.tbss|\.tdata)\S*\s+[0-9a-f]+ (?:\.hidden )?(_ZN\S+)$', text, re.M)
    return [n for n in names if BUILD.search(n)]


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


COMPUTES = re.compile(r'^v?(add|sub|mul|div|sqrt|min|max|cmp\w*|u?comi|round|fn?m\w+|cvt\w+)(ss|sd|ps|pd)\b|^v?cvt|^v?(xor|and|andn|or)p[sd]\b|^f[a-z]+\b',
                      re.M)


def assembly(compiler, source, folder, *options):
    """Name -> the text of each function that other files may have, too; and of all of them."""
    to = pathlib.Path(folder) / 'a.s'
    subprocess.run([*compiler.split(), '-O0', *options, '-S', source, '-o', to], check=True)
    text = to.read_text()
    code, name = {}, None
    for line in text.splitlines():
        label = re.match(r'^([A-Za-z_$][\w$.]*):', line)
        if label:
            name = label.group(1)
            code[name] = []
        elif line.startswith('\t.size'):
            name = None
        elif name and line.startswith('\t') and not line.startswith('\t.'):
            code[name].append(re.sub(r'\.L\w+', '', line.split('#')[0].strip()))
    return set(re.findall(r'^\t\.weak\t(\S+)', text, re.M)), {n: '\n'.join(lines) for n, lines in code.items()}


def check_arithmetic(compiler, source):
    with tempfile.TemporaryDirectory() as folder:
        weak_precise, precise = assembly(compiler, source, folder)
        weak_fast, fast = assembly(compiler, source, folder, '-ffast-math')
    shared = weak_precise & weak_fast & set(precise)

    def computes(name, code):
        called = re.findall(r'^call\w*\s+([\w$.]+)', code[name], re.M)
        return any(COMPUTES.search(code[n]) for n in [name, *called] if n in code)

    failures = [f'{n}: differs with -ffast-math, and is shared' for n in of_library(
        n for n in shared if precise[n] != fast[n] and (computes(n, precise) or computes(n, fast)))]
    return shared, failures


def main():
    if sys.argv[1] == '--arithmetic':
        shared, failures = check_arithmetic(*sys.argv[2:])
    elif sys.argv[1] == '--alone':
        shared = {(n, path) for path in sys.argv[2:] for n in weak(path) & {n for n, w in functions(path).items() if w}
                  if not BUILD.search(n)}
        failures = [f'{n}: may be shared, is wide' for n in of_library({n for n, _ in shared})]
    else:
        plain, native = sys.argv[1:]
        of_native, shared = functions(native), weak(plain) & weak(native)
        failures = [f'{n}: wide instructions in {plain}' for n, w in functions(plain).items() if w]
        failures += [f'{n}: a variable of each build' for path in sys.argv[1:] for n in variables_of_builds(path)]
        failures += [f'{n}: shared by both objects, wide in {native}'
                     for n in of_library(n for n in shared if of_native.get(n))]
    for f in failures:
        print(f[:300])
    print(f'symbols: {len(shared)} shared, {len(failures)} failed')
    return 1 if failures else 0


if __name__ == '__main__':
    sys.exit(main())
