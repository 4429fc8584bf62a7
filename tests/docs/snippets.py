"""The code that the documentation shows: compiled, run, and compared with NumPy.

snippets.py generate --source ROOT --document NAME --out FILE.cpp    a program that runs each piece of code
snippets.py compare --source ROOT --program PROGRAM                  runs that of docs/numpy.md and NumPy's column beside it
"""
import argparse
import pathlib
import re
import subprocess
import sys

# What the documents assume, in C++ and in Python: the same numbers.
OPERANDS = '''
struct operands {
  ca::ndarray<float> x = ca::array<float>({{0.5f, -1, 2}, {3, 0.25f, -2}}), y = ca::array<float>({{1, 2, 0.5f}, {4, -3, 2}}),
                     a = ca::array<float>({{1, 8, 3}, {4, 5, 9}}), m = ca::array<float>({{2, 1, 0}, {1, 3, 1}, {0, 1, 4}}),
                     c = ca::zeros({2, 3}), s = ca::zeros({}), imgs = ca::ones({2, 3, 6, 6}), filters = ca::ones({4, 3, 3, 3}),
                     dy = ca::ones({2, 4, 6, 6}), dp = ca::ones({2, 3, 3, 3}), batch_a = ca::ones({5, 2, 3}),
                     batch_b = ca::ones({5, 3, 4}), w = ca::ones({3, 2}), b = ca::ones({2});
  ca::ndarray<int> n = ca::array<int>({2, 0, 1}), k = ca::array<int>({1, 2, 2}), labels = ca::array<int>({0, 1});
};
'''
PYTHON = '''
import numpy as np
np.seterr(all="ignore")
x = np.array([[0.5, -1, 2], [3, 0.25, -2]], np.float32)
y = np.array([[1, 2, 0.5], [4, -3, 2]], np.float32)
a = np.array([[1, 8, 3], [4, 5, 9]], np.float32)
m = np.array([[2, 1, 0], [1, 3, 1], [0, 1, 4]], np.float32)
c = np.zeros((2, 3), np.float32)
s = np.zeros((), np.float32)
n = np.array([2, 0, 1], np.int32)
k = np.array([1, 2, 2], np.int32)
list_of_numbers = np.array([1, 2, 3], np.float32)
f = lambda p, q: np.float32(p * q + 1)
'''
HEADER = '''// Made by tests/docs/snippets.py.
#include <cudarray/autograd.hpp>
#include <cudarray/cudarray.hpp>
#include <iostream>
#include <sstream>
namespace ca = cudarray;
namespace {
%s
/// What is printed of a value; nothing of what has no text in NumPy's form.
template <class T>
std::string text(const T& v) {
  if constexpr (ca::array_expression<T>) return ca::to_string(v);
  else if constexpr (std::is_same_v<T, bool>) return v ? "True" : "False";
  else if constexpr (std::is_arithmetic_v<T> && !std::is_same_v<T, char>) return ca::to_string(ca::full<T>({}, v));
  else if constexpr (std::is_same_v<T, ca::shape>) return v.str();
  else if constexpr (std::is_same_v<T, std::string>) return v;
  else return "";
}
void show(int number, std::string what) {
  for (std::size_t at; (at = what.find('\\n')) != std::string::npos;) what.replace(at, 1, "|");
  std::cout << number << '\\t' << what << '\\n';
}
'''
USING = ('[[maybe_unused]] auto& [x, y, a, m, c, s, imgs, filters, dy, dp, batch_a, batch_b, w, b, n, k, labels] = all;')
# What changes an operand, instead of having a value.
CHANGES = re.compile(r'(?<![=!<>])=(?!=)|ca::out\(|\.fill\(|copyto|scatter_|fill_diagonal|ca::place|ca::put|ca::save|shuffle|seed\(|^ca::random::generator|^auto |^ca::ndarray')
# Code that is no statement: a type, a name, an exception, an option; and a file that is not there.
NO_STATEMENT = re.compile(r'ca::ndarray<float>|\w+|throw .*|\..*|ca::load_idx.*')
# Other numbers than NumPy's, or none.
NOT_COMPARED = re.compile(r'random|empty|rng|result_type|ca::load|from_pointer|print')
NUMBER = re.compile(r'-?(?:inf|nan|\d+\.?\d*(?:e[-+]?\d+)?)')


def blocks(text):
    """The blocks of C++, whole."""
    return re.findall(r'```cpp\n(.*?)```', text, re.S)


def rows(text):
    """Of each row of a table: the pieces of code in its first and its second column."""
    for line in text.split('\n'):
        if not line.startswith('|') or line.startswith('|-') or '`' not in line:
            continue
        cells = [c.strip() for c in re.split(r'(?<!\\)\|', line)[1:-1]]
        pieces = [[p.replace('\\|', '|') for p in re.findall(r'`([^`]+)`', c)] for c in cells[:2]]
        yield pieces


def pieces(text):
    """Numbered code of the second columns, and what stands for it in the first, if that is one to one."""
    number = 0
    for left, right in rows(text):
        for i, code in enumerate(right):
            if NO_STATEMENT.fullmatch(code):
                continue
            yield number, code, left[i] if len(left) == len(right) else None
            number += 1


def statement(number, code):
    if 'std::cout' in code:
        return f'std::ostringstream out; {code.replace("std::cout", "out")}; show({number}, out.str());'
    if CHANGES.search(code):
        return f'{code}; show({number}, text(x) + "; " + text(a) + "; " + text(m) + "; " + text(c) + "; " + text(s));'
    return f'show({number}, text({code}));'


def generate(root, document, out):
    text = (root / document).read_text()
    body = HEADER % OPERANDS
    calls = []
    for number, code, _ in pieces(text) if document.startswith('docs/') and document != 'docs/derivatives.md' else ():  # others' tables are about it
        body += f'void piece{number}() {{\n  operands all;\n  {USING}\n  {{ {statement(number, code)} }}\n}}\n'
        calls.append(f'piece{number}();')
    for number, code in enumerate(blocks(text)):
        code = '\n'.join(l for l in code.split('\n') if not l.startswith(('#include', 'namespace ca =')))
        if 'ca::graph' in code or 'CUDARRAY_' in code or not code.strip():  # of CUDA, or no program
            continue
        body += f'void block{number}() {{\n{code}\n}}\n'
        calls.append(f'block{number}();')
    out.write_text(body + '}  // namespace\nint main() {\n  ' + '\n  '.join(calls) + '\n}\n')


def as_numpy(code, changes):
    """What NumPy prints for a piece; None where it is no code."""
    names = {}
    exec(PYTHON, names)
    try:
        if not changes:
            value = eval(code, names)
            return None if isinstance(value, (list, tuple)) and not all(isinstance(v, int) for v in value) else str(value)
        exec(code, names)
        return '; '.join(str(names[v]) for v in 'xamcs')
    except (NameError, SyntaxError, AttributeError):
        return None


def alike(a, b):
    """Whether texts are the same but for the last digits of numbers, and the spaces that these need."""
    def form(t):
        return NUMBER.sub('#', t).replace(' ', '')

    def close(v, w):
        return v == w or (v != v and w != w) or abs(v - w) <= 1e-6 * max(abs(v), abs(w))

    numbers = [[float(v) for v in NUMBER.findall(t)] for t in (a, b)]
    return form(a) == form(b) and all(map(close, *numbers))


def compare(root, program):
    printed = subprocess.run([program], capture_output=True, text=True, check=True).stdout
    got = dict(line.split('\t', 1) for line in printed.split('\n') if re.match(r'\d+\t', line))
    same = wrong = 0
    for number, code, left in pieces((root / 'docs/numpy.md').read_text()):
        if left is None or NOT_COMPARED.search(code) or NOT_COMPARED.search(left) or code.startswith('auto '):
            continue
        expected = as_numpy(left, CHANGES.search(code))
        here = got[str(number)]
        if expected is None or here == '':
            continue
        expected = expected.replace('\n', '|')
        if alike(here, expected):
            same += 1
        else:
            wrong += 1
            print(f'docs/numpy.md: `{code}` gives {here}, `{left}` gives {expected}')
    print(f'snippets: {len(got)} ran, {same} give what NumPy gives, {wrong} do not')
    return 1 if wrong or same < 100 else 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('mode', choices=['generate', 'compare'])
    parser.add_argument('--source', type=pathlib.Path, required=True)
    parser.add_argument('--document')
    parser.add_argument('--out', type=pathlib.Path)
    parser.add_argument('--program')
    a = parser.parse_args()
    if a.mode == 'generate':
        return generate(a.source, a.document, a.out)
    return compare(a.source, a.program)


if __name__ == '__main__':
    sys.exit(main())
