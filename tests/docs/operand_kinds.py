"""The table of operands (ops/operand_kinds*.cpp) has every public function that takes an array.

operand_kinds.py --source ROOT
"""
import argparse
import pathlib
import re
import sys

from names import FUNCTION, public_functions

# A line of the table, by its function's name or by a macro; what follows up to the next line calls the function.
LINE = re.compile(r'\b(?:exactly|nearly)\(\s*"(\w+)"|^\s*[A-Z_]+\((\w+)[,)]', re.M)
# What the headers have as functions beside those that names.py sees: behind constraints, and made by macros.
MADE = re.compile(r'^requires.*\b(?:auto|void|bool) (\w+)\(|^CUDARRAY_\w+\((\w+)[,)]')
# Chapters of the reference without functions of arrays.
OTHER_CHAPTERS = re.compile('Arrays|Index items|Shapes, axes|Memory|Threads|Derivatives|Counters|CUDA|Errors|How')

EXCEPTIONS = {
    'take no array': '''bartlett blackman hamming hanning kaiser empty full zeros ones arange linspace eye array from_pointer identity logspace geomspace indices
        fromfunction frombuffer tri tril_indices triu_indices bits integers load load_any load_idx
        loadtxt memmap open_memmap load_png from_dlpack from_mdspan from_span synchronize
        memory_stats set_memory_limit free_cached poison_released glorot_uniform glorot_normal he_uniform he_normal
        lecun_uniform lecun_normal truncated_normal orthogonal dropout_mask alibi''',
    'take the array that is written': 'out',
    'takes an array, whose memory is to be looked at': 'to_mdspan',
    'of libpng, called with expressions and views in io/png.cpp': 'save_png',
    'a member, and an operation of no name': 'length',
}


def listed(root):
    """The functions in the reference's code, and all that have a docstring."""
    chapters = [c for c in (root / 'docs/reference.md').read_text().split('\n## ') if not OTHER_CHAPTERS.match(c)]
    code = [c for chapter in chapters for c in re.findall(r'`([^`]+)`', chapter)]
    named = {n for c in code for n in (c.split() if re.fullmatch(r'[\w ]+', c) else re.findall(r'\b(\w+)(?=[(<])', c))}
    made = set()
    for header in (p for folder in ('ops', 'nnet', 'io', 'expr') for p in (root / 'include/cudarray' / folder).iterdir()):
        for line in header.read_text().split('\n'):
            made.update(n for found in (FUNCTION.match(line), MADE.match(line)) if found for n in found.groups())
    return (named & made) | {name for name, header in public_functions(root)}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--source', type=pathlib.Path, required=True)
    root = parser.parse_args().source
    functions = listed(root)
    table, wrong = set(), []
    for file in sorted((root / 'tests/ops').glob('operand_kinds*.cpp')):
        lines = list(LINE.finditer(file.read_text()))
        for line, following in zip(lines, lines[1:] + [None]):
            name = line.group(1) or line.group(2)
            called = file.read_text()[line.end():following.start() if following else None]
            if line.group(1) and name in functions and not re.search(rf'\b{name}\s*[<(]', called):
                wrong.append(f'{file.name}: the line of {name} does not call it')
            table.add(name)
    excepted = {name for names in EXCEPTIONS.values() for name in names.split()}
    wrong += [f'{name} is not in the table of operands' for name in sorted(functions - table - excepted)]
    wrong += [f'the exception {name} is no function, or is in the table' for name in sorted(excepted - (functions - table))]
    for line in wrong:
        print(line)
    print(f'operand kinds: {len(functions & table)} functions, {len(excepted)} exceptions, {len(wrong)} wrong')
    return 1 if wrong or len(functions) < 60 else 0


if __name__ == '__main__':
    sys.exit(main())
