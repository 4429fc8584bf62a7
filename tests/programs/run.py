"""Ordinary programs, as a user of NumPy would write them here: what they print is what their NumPy originals print, and they are not
much longer.

run.py --programs FOLDER            compares NAME.cpp, built as FOLDER/program_NAME, with NAME.py
run.py --programs FOLDER --time     on larger data, by one thread: the time of both; of three runs the shortest
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).parent
NUMBER = re.compile(r'(?<![\w.])[-+]?(?:\d+\.?\d*(?:e[-+]?\d+)?|inf|nan)(?!\w)')
LARGER = {'adam': 1000000, 'files': 300000, 'gpt_block': 1024, 'heat': 1500, 'images': 1000, 'kmeans': 1000000, 'life': 1500, 'lstm': 10000,
          'options': 20000, 'ranking': 500000, 'filter': 40000}
# Times what a program lines takes more than Python's; what both print is compared.
MOST_LINES = 1.5


def code_lines(path):
    return sum(1 for line in path.read_text().split('\n') if line.strip() and not re.match(r'\s*(#(?!include)|//)', line))


def printed(command, **more):
    return subprocess.run(command, capture_output=True, text=True, check=True, **more).stdout


def differences(ours, theirs):
    a, b = ([float(n) for n in NUMBER.findall(text)] for text in (ours, theirs))
    words = [re.sub(r'\s+', ' ', NUMBER.sub('#', text)).replace(' ]', ']').replace('[ ', '[').strip() for text in (ours, theirs)]
    wrong = [f'{v} is not {w}' for v, w in zip(a, b) if not (v == w or abs(v - w) <= 1e-4 * max(1e-2, abs(w)))]
    if len(a) != len(b):
        wrong.append(f'{len(a)} numbers, not {len(b)}')
    if words[0] != words[1]:
        wrong.append(f'"{words[0]}" is not "{words[1]}"')
    return wrong


def shortest(command, environment):
    times = []
    for _ in range(3):
        start = time.perf_counter()
        printed(command, env=environment)
        times.append(time.perf_counter() - start)
    return min(times)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--programs', type=pathlib.Path, required=True)
    parser.add_argument('--time', action='store_true')
    arguments = parser.parse_args()
    wrong = 0
    one_thread = dict(os.environ, OMP_NUM_THREADS='1', OPENBLAS_NUM_THREADS='1', MKL_NUM_THREADS='1')
    for path in sorted(HERE.glob('*.cpp')):
        program, original = [str(arguments.programs / f'program_{path.stem}')], [sys.executable, '-B', str(path.with_suffix('.py'))]
        if arguments.time:
            size = [str(LARGER[path.stem])]
            ours, theirs = shortest(program + size, one_thread), shortest(original + size, one_thread)
            print(f'{path.stem}: {ours:.3f} s, NumPy {theirs:.3f} s: {theirs / ours:.1f} x faster')
            continue
        lines = code_lines(path), code_lines(path.with_suffix('.py'))
        problems = differences(printed(program), printed(original))
        if lines[0] > MOST_LINES * lines[1]:
            problems.append(f'{lines[0]} lines for {lines[1]} of Python')
        print(f'{path.stem}: {lines[0]} lines, Python {lines[1]}' + ''.join(f'\n  {p}' for p in problems))
        wrong += bool(problems)
    return 1 if wrong else 0


if __name__ == '__main__':
    sys.exit(main())
