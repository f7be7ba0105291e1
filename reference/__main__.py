"""python -m reference cases FILE: write test cases for every operator, and count the corner cases that they cover."""

import argparse

from reference.write_cases import draw_cases, report, write


def main():
    parser = argparse.ArgumentParser(prog="python -m reference", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    cases = commands.add_parser(
        "cases", help="write cases of every operator into FILE, as docs/conformance-suite.md describes"
    )
    cases.add_argument("file", metavar="FILE", help="an npz file")
    cases.add_argument("--seed", type=int, default=0, help="another seed draws other cases (default: 0)")
    cases.add_argument("--count", type=int, default=40, help="cases of each operator, at least (default: 40)")
    cases.add_argument("--operator", action="append", metavar="NAME", help="of this operator only; may be repeated")
    given = parser.parse_args()
    found = draw_cases(given.seed, given.count, given.operator)
    write(given.file, found, given.seed)
    print(report(found))
    print(f"{given.file}: {len(found)} cases; a star marks a corner that must be hit")


if __name__ == "__main__":
    main()
