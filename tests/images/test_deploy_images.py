# SPDX-License-Identifier: Apache-2.0
"""The images of deploy/images: the same bytes from the same programs, small, harmless, complete, and told in full."""

import functools
import hashlib
import json
import os
import re
import shutil
import stat
import subprocess
import tarfile
import tempfile
import unittest

from deploy.images import images, program, sbom

ROOT = images.ROOT
BUILD = os.path.join(ROOT, "deploy", "images", "build")
# Bytes, as they travel: less than 30 MB. A third of carry is the data of ICU, which libarchive needs through libxml2.
PACKED = {"operator": 15e6, "device-plugin": 15e6, "carry": 28e6, "web": 15e6, "keeper": 15e6, "ledger": 15e6}
UNPACKED = {"operator": 32e6, "device-plugin": 36e6, "carry": 67e6, "web": 36e6, "keeper": 36e6, "ledger": 36e6}  # half of each is what Debian's libcurl needs


class Archive:
    """An image as it was written: its config, its layer and its SBOM."""

    def __init__(self, folder, image):
        base = os.path.join(folder, f"{image}-{images.version()}")
        self.path = base + ".tar"
        with open(base + ".spdx.json", encoding="utf-8") as source:
            self.sbom = json.load(source)
        with tarfile.open(self.path) as tar:
            self.manifest = json.load(tar.extractfile("manifest.json"))[0]
            self.index = json.load(tar.extractfile("index.json"))
            self.config = json.load(tar.extractfile(self.manifest["Config"]))
            with tarfile.open(fileobj=tar.extractfile(self.manifest["Layers"][0])) as layer:
                self.entries = layer.getmembers()

    def digest(self):
        with open(self.path, "rb") as source:
            return hashlib.file_digest(source, "sha256").hexdigest()

    def files(self):
        return {entry.name for entry in self.entries if not entry.isdir()}


def build(folder, **environment):
    done = subprocess.run([BUILD, "--out", folder], check=False, capture_output=True, text=True,
                          env={**os.environ, **environment})
    assert done.returncode == 0, done.stderr
    return done.stdout


@functools.cache
def built():
    """({image: Archive}, what was printed). Made once for all tests."""
    folder = tempfile.mkdtemp(prefix="gpupool-images-")
    unittest.addModuleCleanup(shutil.rmtree, folder)
    printed = build(folder)
    return {image: Archive(folder, image) for image in images.IMAGES}, printed


class ImagesCase(unittest.TestCase):
    def setUp(self):
        self.archives, self.printed = built()

    def each(self):
        return self.archives.items()


class ArchiveTest(ImagesCase):
    def test_same_programs_same_bytes(self):
        """Of copies in another folder, with other times and rights, on a machine with another clock and language."""
        folder = tempfile.mkdtemp(prefix="gpupool-images-")
        self.addCleanup(shutil.rmtree, folder)
        copies, out = os.path.join(folder, "elsewhere"), os.path.join(folder, "out")
        for path in [path for image in images.IMAGES for path in (*images.binaries(image), *images.ours(image))]:
            copy = os.path.join(copies, os.path.relpath(path, images.build_folder()))
            os.makedirs(os.path.dirname(copy), exist_ok=True)
            shutil.copyfile(path, copy)
            os.chmod(copy, 0o700)
            os.utime(copy, (1, 1))
        build(out, BUILD_DIR=copies, TZ="Asia/Tokyo", LC_ALL="C.UTF-8", PYTHONHASHSEED="7")
        for image, archive in self.each():
            again = Archive(out, image)
            self.assertEqual(archive.digest(), again.digest())
            self.assertEqual(archive.sbom, again.sbom)
            self.assertIn(archive.index["manifests"][0]["digest"], self.printed)

    def test_programs_do_not_know_where_they_were_built(self):
        folders = {ROOT, os.path.dirname(os.path.dirname(images.binaries("operator")[0]))}
        with tempfile.TemporaryDirectory() as scratch:
            for binary in [path for image in images.IMAGES for path in (*images.binaries(image), *images.ours(image))]:
                with open(program.stripped(binary, scratch), "rb") as source:
                    data = source.read()
                self.assertNotIn(b".pb.cc", data, binary)  # would have the path that ccache made of it
                for folder in folders:
                    self.assertNotIn(os.path.join(os.path.abspath(folder), "").encode(), data, binary)

    def test_user_and_program(self):
        for image, archive in self.each():
            config = archive.config["config"]
            self.assertEqual("65532:65532", config["User"], image)
            self.assertEqual(["/" + images.IMAGES[image][0]], config["Entrypoint"])
            self.assertEqual([f"gpupool.dev/{image}:{images.version()}"], archive.manifest["RepoTags"])

    def test_nobody_but_root_can_change_a_file(self):
        for _, archive in self.each():
            for entry in archive.entries:
                self.assertEqual((0, 0, 0), (entry.uid, entry.gid, entry.mtime), entry.name)
                self.assertTrue(entry.isreg() or entry.isdir() or entry.issym(), entry.name)
                if not entry.issym():
                    self.assertFalse(entry.mode & (stat.S_ISUID | stat.S_ISGID | 0o022), entry.name)

    def test_sizes(self):
        for image, archive in self.each():
            self.assertLess(os.path.getsize(archive.path), PACKED[image], image)
            self.assertLess(sum(entry.size for entry in archive.entries), UNPACKED[image], image)

    def test_no_shell_and_no_other_programs(self):
        for image, archive in self.each():
            programs = {entry.name for entry in archive.entries if entry.isreg() and entry.mode & 0o111
                        and not entry.name.startswith("lib")}
            self.assertEqual(set(images.IMAGES[image]), programs)


class BillTest(ImagesCase):
    def test_every_file_is_of_a_package_in_the_bill(self):
        for image, archive in self.each():
            listed = {part["name"] for part in archive.sbom["packages"]}
            own = {f"{images.OURS_IN}/{name}" for name in images.OURS.get(image, [])}
            self.assertLessEqual(own, archive.files())
            files = archive.files() - {*images.IMAGES[image], "etc/passwd", "etc/group"} - own
            licenses = {name for name in files if name.startswith("usr/share/doc/")}
            self.assertLessEqual({name.split("/")[3] for name in licenses}, listed)
            self.assertGreater(len(files - licenses), 20)
            made = images.FILES.get(image, {})
            self.assertLessEqual({package for _, package in made.values()}, listed)
            self.assertLessEqual(set(sbom.packages_of("/" + name for name in files - licenses - set(made))), listed)

    def test_every_package_is_known_by_version_and_license(self):
        for image, archive in self.each():
            packages = [part for part in archive.sbom["packages"] if part["SPDXID"] != "SPDXRef-image"]
            wanted = {name for binary in images.IMAGES[image] for name in sbom.LINKED[binary]}
            self.assertLessEqual(wanted, {part["name"] for part in packages})
            for part in packages:
                self.assertRegex(part["versionInfo"], r"\d", part["name"])
                self.assertIn(f"usr/share/doc/{part['name']}/copyright", archive.files())
            related = {r["relatedSpdxElement"] for r in archive.sbom["relationships"]}
            self.assertEqual({part["SPDXID"] for part in archive.sbom["packages"]}, related)
            (ours,) = (part for part in archive.sbom["packages"] if part["SPDXID"] == "SPDXRef-image")
            self.assertEqual(archive.index["manifests"][0]["digest"], "sha256:" + ours["checksums"][0]["checksumValue"])


class UnpackedTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="gpupool-images-")
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        subprocess.run([BUILD, "--unpack", cls.folder], check=True)

    def test_programs_run_with_nothing_else_and_no_rights(self):
        for image, programs in images.IMAGES.items():
            for name in programs:
                if name == "gpupool-launch":
                    continue  # static; it is copied into other images
                done = subprocess.run(["chroot", "--userspec=65532:65532", os.path.join(self.folder, image), "/" + name,
                                       "--version"], capture_output=True, text=True, check=False, cwd="/")
                self.assertEqual((0, True), (done.returncode, images.version() in done.stdout), done.stdout + done.stderr)

    def test_driver_library_finds_what_it_needs(self):
        """NVIDIA's library is linked against these, also where they have nothing in them any more."""
        for name in ("libdl.so.2", "libpthread.so.0", "librt.so.1", "libm.so.6", "libc.so.6"):
            listed = subprocess.run(["chroot", os.path.join(self.folder, "device-plugin"), "/lib64/ld-linux-x86-64.so.2",
                                     "--verify", "/lib/x86_64-linux-gnu/" + name], check=False, capture_output=True, cwd="/")
            self.assertIn(listed.returncode, (0, 2), name)

    def test_links_lead_somewhere_inside(self):
        for image in images.IMAGES:
            for folder, _, files in os.walk(os.path.join(self.folder, image)):
                for path in (os.path.join(folder, name) for name in files):
                    self.assertTrue(os.path.realpath(path).startswith(self.folder), path)
                    self.assertTrue(os.path.exists(path), path)


class DockerfileTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with open(os.path.join(ROOT, "deploy", "images", "Dockerfile"), encoding="utf-8") as source:
            text = source.read().replace("\\\n", " ")
        cls.stages = {}
        for line in text.splitlines():
            start = re.fullmatch(r"FROM (\S+) AS (\S+)", line)
            if start:
                cls.stages[start.group(2)] = stage = [start.group(1)]
            elif line and not line.startswith("#"):
                stage.append(line)

    def test_stages_are_the_images(self):
        self.assertEqual(["build", *images.IMAGES], list(self.stages))
        for image, programs in images.IMAGES.items():
            self.assertEqual(["scratch", f"COPY --from=build /images/{image}/ /", "USER 65532:65532",
                              f'ENTRYPOINT ["/{programs[0]}"]'], self.stages[image])

    def test_it_builds_all_programs_and_no_tests(self):
        commands = " ".join(self.stages["build"])
        targets = re.search(r"--target ((?:gpupool-\S+ +)+)&&", commands).group(1).split()
        self.assertEqual(sorted(name for names in images.IMAGES.values() for name in names), sorted(targets))
        self.assertIn("-DGPUPOOL_TESTS=OFF", commands)
        self.assertIn("deploy/images/build --unpack /images", commands)

    def test_first_image_is_named_in_full(self):
        self.assertRegex(self.stages["build"][0], r"^[a-z]+(\.[a-z]+)+/\S+:\S+$")
