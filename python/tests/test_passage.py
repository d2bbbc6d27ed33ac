"""Folders that root has closed, opened for one group. What the kernel makes of it is asked of the kernel, as that group."""

from __future__ import annotations

import os
import struct
import tempfile
import unittest

from svc_runtime.passage import _ATTRIBUTE, _let, _may, _read, open_folders

_GROUP = 61_234
_OTHER = 61_235
_PASS, _LIST, _READ = 1, 5, 4


@unittest.skipIf(os.getuid() != 0, "only root closes folders to others and opens them")
class Passage(unittest.TestCase):
    def setUp(self) -> None:
        self.top = tempfile.mkdtemp(prefix="svc-passage-")
        self.addCleanup(lambda: __import__("shutil").rmtree(self.top))
        self.inner = os.path.join(self.top, "closed", "dags")
        os.makedirs(self.inner)
        os.chmod(os.path.dirname(self.inner), 0o700)

    def test_the_way_can_be_passed_and_the_folder_listed_by_that_group_alone(self) -> None:
        os.chmod(self.inner, 0o700)
        answer = open_folders([self.inner], _GROUP)
        self.assertEqual(answer, {"opened": [self.top, os.path.dirname(self.inner), self.inner], "closed": []})
        self.assertTrue(_may(self.inner, _LIST, _GROUP))
        self.assertFalse(_may(self.top, _READ, _GROUP))
        self.assertFalse(_may(self.inner, 2, _GROUP))
        self.assertFalse(_may(self.top, _PASS, _OTHER))
        self.assertEqual(open_folders([self.inner], _GROUP)["opened"], [])

    def test_a_link_on_the_way_is_followed(self) -> None:
        link = os.path.join(self.top, "link")
        os.symlink(self.inner, link)
        open_folders([link], _GROUP)
        self.assertTrue(_may(link, _LIST, _GROUP))

    def test_nobody_gets_more_than_the_mask_had_left_them(self) -> None:
        os.chmod(self.top, 0o750)
        _let(self.top, _LIST, _OTHER)
        # As chmod does it: the mask is what is changed, and takes the rights of the other group away.
        os.chmod(self.top, 0o700)
        self.assertFalse(_may(self.top, _PASS, _OTHER))
        _let(self.top, _PASS, _GROUP)
        self.assertTrue(_may(self.top, _PASS, _GROUP))
        self.assertFalse(_may(self.top, _PASS, _OTHER))

    def test_what_cannot_be_opened_is_named(self) -> None:
        answer = open_folders(["/proc/1/fd"], _GROUP)
        self.assertEqual(answer["closed"][0]["at"], "/proc/1/fd")

    def test_the_entry_is_one_that_the_kernel_gives_back(self) -> None:
        _let(self.top, _PASS, _GROUP)
        data = os.getxattr(self.top, _ATTRIBUTE)
        self.assertEqual(list(struct.iter_unpack("<HHI", data[4:])), _read(self.top))
        self.assertIn((0x08, _PASS, _GROUP), _read(self.top))
