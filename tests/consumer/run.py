"""Small consumers build and run by find_package, add_subdirectory and FetchContent; linking both targets fails.

run.py --source DIR --build DIR
"""
import argparse
import pathlib
import shutil
import subprocess
import sys

PROJECT = """cmake_minimum_required(VERSION 3.25)
project(consumer CXX)
{get}
add_executable(consumer "{here}/main.cpp")
target_link_libraries(consumer PRIVATE {link})
"""
ADD = 'add_subdirectory("{source}" cudarray)'
CASES = {
    'find_package': 'find_package(cudarray 0.1 REQUIRED)',
    'add_subdirectory': ADD,
    'FetchContent': 'include(FetchContent)\nFetchContent_Declare(cudarray SOURCE_DIR "{source}")\nFetchContent_MakeAvailable(cudarray)',
}


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--source', required=True)
    parser.add_argument('--build', required=True)
    a = parser.parse_args()
    here = pathlib.Path(__file__).resolve().parent
    build = pathlib.Path(a.build)
    shutil.rmtree(build, ignore_errors=True)
    build.mkdir(parents=True)
    failures = []

    def consume(name, get, link, expect_configure=True):
        folder = build / name
        folder.mkdir()
        (folder / 'CMakeLists.txt').write_text(PROJECT.format(get=get.format(source=a.source), here=here, link=link))
        code, text = run('cmake', '-S', str(folder), '-B', str(folder / 'build'), '-G', 'Ninja', f'-DCMAKE_PREFIX_PATH={build}/prefix',
                         '-DCMAKE_BUILD_TYPE=Debug')
        if not expect_configure:
            if code == 0 or 'CUDARRAY_DEFAULT_DEVICE' not in text:
                failures.append(f'{name}: configuring should fail for CUDARRAY_DEFAULT_DEVICE:\n{text[-800:]}')
            return
        if code == 0:
            code, text = run('cmake', '--build', str(folder / 'build'))
        if code == 0:
            code, text = run(str(folder / 'build' / 'consumer'))
        if code != 0 or text.strip() != 'cpu 16':
            failures.append(f'{name}:\n{text[-1500:]}')

    run('cmake', '-S', a.source, '-B', str(build / 'pack'), '-G', 'Ninja', '-DCUDARRAY_BUILD_TESTS=OFF', '-DCUDARRAY_BUILD_EXAMPLES=OFF',
        f'-DCMAKE_INSTALL_PREFIX={build}/prefix')
    code, text = run('cmake', '--install', str(build / 'pack'))
    if code:
        failures.append(f'install:\n{text}')
    for name, get in CASES.items():
        consume(name, get, 'cudarray::cudarray')
    if shutil.which('nvcc'):
        consume('both_devices', ADD, 'cudarray::cudarray cudarray::cuda', expect_configure=False)
    for f in failures:
        print(f)
    print(f'consumers: {len(CASES) + 1} checked, {len(failures)} failed')
    return 1 if failures else 0


if __name__ == '__main__':
    sys.exit(main())
