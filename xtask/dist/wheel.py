"""Writes a wheel from a tree laid out as below a prefix: python3 wheel.py TREE OUT NAME VERSION TAG EPOCH SUMMARY LICENCE HOMEPAGE

bin/ becomes scripts of the wheel; everything else becomes data below the prefix of the environment, except README.md at the top of the tree, which
is also in share/doc: the top folder belongs to the environment. The same tree gives the same bytes.
"""

import base64
import hashlib
import pathlib
import sys
import time
import zipfile

tree, out, name, version, tag, epoch, summary, licence, homepage = sys.argv[1:]
tree = pathlib.Path(tree)
info = f"{name}-{version}.dist-info"
# The zip format starts in 1980.
date = max(time.gmtime(int(epoch))[:6], (1980, 1, 1, 0, 0, 0))

metadata = f"""Metadata-Version: 2.1
Name: {name}
Version: {version}
Summary: {summary}
License: {licence}
Home-page: {homepage}
Description-Content-Type: text/markdown

mpress compresses the messages of MPI programs at run time, losslessly, without changing the programs:

    mpirun -n 4 mpress run -- python app.py

The package has the command, its libraries, man pages and completions. How to use it: {homepage}
"""
files = {
    f"{info}/METADATA": metadata.encode(),
    f"{info}/WHEEL": f"Wheel-Version: 1.0\nGenerator: mpress\nRoot-Is-Purelib: false\nTag: {tag}\n".encode(),
}
programs = set()
for path in sorted(tree.rglob("*")):
    place = path.relative_to(tree)
    if path.is_file() and str(place) != "README.md":
        if place.parts[0] == "bin":
            place = f"{name}-{version}.data/scripts/{place.relative_to('bin')}"
            programs.add(place)
        else:
            place = f"{name}-{version}.data/data/{place}"
        files[place] = path.read_bytes()

record = ""
for place, content in files.items():
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    record += f"{place},sha256={digest},{len(content)}\n"
files[f"{info}/RECORD"] = (record + f"{info}/RECORD,,\n").encode()

with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as wheel:
    for place, content in files.items():
        entry = zipfile.ZipInfo(place, date)
        entry.compress_type = zipfile.ZIP_DEFLATED
        entry.external_attr = (0o100755 if place in programs else 0o100644) << 16
        wheel.writestr(entry, content)
