# Packs a folder into FILE.tar.gz or FILE.zip, the same bytes for the same files: python3 archive.py FOLDER FILE

import gzip
import io
import os
import sys
import tarfile
import zipfile

folder, file = sys.argv[1:]
names = sorted(os.listdir(folder))
top = os.path.basename(os.path.normpath(folder))


def mode(name):
    return 0o755 if os.access(os.path.join(folder, name), os.X_OK) else 0o644


def content(name):
    with open(os.path.join(folder, name), "rb") as opened:
        return opened.read()


if file.endswith(".zip"):
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as packed:
        for name in names:
            entry = zipfile.ZipInfo(f"{top}/{name}")
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100000 | mode(name)) << 16
            packed.writestr(entry, content(name))
else:
    with open(file, "wb") as raw, gzip.GzipFile("", "wb", 9, raw, mtime=0) as zipped:
        with tarfile.open(fileobj=zipped, mode="w", format=tarfile.USTAR_FORMAT) as packed:
            for name in names:
                entry = tarfile.TarInfo(f"{top}/{name}")
                entry.mode, entry.size = mode(name), len(content(name))
                packed.addfile(entry, io.BytesIO(content(name)))
