"""docs/reference.md lists every public function, and no name that is not there; docs/derivatives.md says of each function of
arrays whether it has a derivative.

names.py --source ROOT
"""
import argparse
import pathlib
import re
import sys

# A function at the left margin, behind its docstring and template lines.
FUNCTION = re.compile(r'(?!template|struct|class|return|using|concept|requires|friend|#)(?:[\w:<>,&*]+ )+[&*]?(\w+)\(')
NOT_PUBLIC = re.compile(r'detail|backend|host|gpu|rule|op\b|traits')
# Headers without functions of arrays that have a value.
NO_VALUES = {'idx.hpp', 'npy.hpp', 'print.hpp', 'creation.hpp', 'memory.hpp', 'out.hpp', 'random.hpp', 'distributions.hpp',
             'discrete_distributions.hpp', 'vector_distributions.hpp', 'choice.hpp', 'any.hpp', 'npz.hpp', 'safetensors.hpp',
             'text.hpp', 'memmap.hpp', 'png.hpp', 'dlpack.hpp', 'mdspan.hpp'}
# Members and names of C++ that the reference speaks of.
FOREIGN = {'np', 'std', 'span', 'ostream', 'stream'}


def public_functions(root):
    for header in sorted(p for folder in ('ops', 'nnet', 'io') for p in (root / 'include/cudarray' / folder).glob('*.hpp')):
        scopes, documented = [], False
        for line in header.read_text().split('\n'):
            if opened := re.match(r'(?:inline )?namespace (.*) \{$', line):
                scopes.append(opened.group(1))
            elif line.startswith('}  // namespace') and scopes:
                scopes.pop()
            elif line.startswith('///'):
                documented = True
            elif found := FUNCTION.match(line):
                if documented and not any(NOT_PUBLIC.search(s) for s in scopes):
                    yield found.group(1), header.name
                documented = False
            elif not re.match(r'template|requires|\s', line):
                documented = False


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--source', type=pathlib.Path, required=True)
    root = parser.parse_args().source
    reference = (root / 'docs/reference.md').read_text()
    listed = set(re.findall(r'\w+', reference))
    functions = dict(public_functions(root))
    missing = {name: header for name, header in functions.items() if name not in listed}
    told = set(re.findall(r'\w+', (root / 'docs/derivatives.md').read_text().split('## What has a derivative')[1].split('\n## ')[0]))
    untold = sorted(name for name, header in functions.items() if header not in NO_VALUES and name not in told)
    known = set()
    for file in (root / 'include/cudarray').rglob('*'):
        if file.is_file():
            known.update(re.findall(r'\w+', file.read_text()))
    named = {n for code in re.findall(r'`([^`]+)`', reference) for n in re.findall(r'\b([a-z]\w+)(?=\(|<)', code)}
    gone = sorted(n for n in named if n not in known and n not in FOREIGN)
    for name, header in missing.items():
        print(f'{header}: {name} is not in docs/reference.md')
    for name in gone:
        print(f'docs/reference.md: {name} is not in the headers')
    for name in untold:
        print(f'docs/derivatives.md: whether {name} has a derivative is not said')
    print(f'names: {len(functions)} functions, {len(named)} names, {len(missing) + len(gone) + len(untold)} wrong')
    return 1 if missing or gone or untold or len(functions) < 60 else 0


if __name__ == '__main__':
    sys.exit(main())
