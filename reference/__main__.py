"""python -m reference cases FILE: write test cases for every operator, and count the corner cases that they cover."""

import argparse

from reference.write_cases import draw_cases, report, write, write_release


def main():
    parser = argparse.ArgumentParser(prog="python -m reference", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    for name, kind, says in [
        ("cases", "a file .npz, or .jsonl: lines of JSON", "write cases of every operator into FILE"),
        ("release", "a file .zip", "write them in both forms, with their reader and their page, into FILE"),
    ]:
        cases = commands.add_parser(name, help=f"{says}; see docs/conformance-suite.md")
        cases.add_argument("file", metavar="FILE", help=kind)
        cases.add_argument("--seed", type=int, default=0, help="another seed draws other cases (default: 0)")
        cases.add_argument("--count", type=int, default=40, help="cases of each operator, at least (default: 40)")
        cases.add_argument("--operator", action="append", metavar="NAME", help="of this operator only; may be repeated")
    given = parser.parse_args()
    found = draw_cases(given.seed, given.count, given.operator)
    (write_release if given.command == "release" else write)(given.file, found, given.seed)
    print(report(found))
    print(f"{given.file}: {len(found)} cases; a star marks a corner that must be hit")


if __name__ == "__main__":
    main()
