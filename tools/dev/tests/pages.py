# SPDX-License-Identifier: GPL-2.0
"""For tests of pages: are they whole, and what does a browser make of them?"""

import re
import shutil
import subprocess
import tempfile
import unittest
from html.parser import HTMLParser

from textpoke import errors, host

# What comes from elsewhere, when a page is opened.
REMOTE = re.compile(r"(?:src|href)\s*=\s*[\"']?(?:https?:)?//|@import|url\(\s*[\"']?(?!#)")
VOID = ("meta", "br", "hr", "img", "input", "link")
BROWSER = shutil.which("chromium")
NO_BROWSER = "there is no chromium: `apt-get install chromium` brings it"


def need_plots():
    """The setUpModule() of tests that draw: without what draws they are skipped."""
    try:
        host.need(*host.PAGE)
    except errors.Fail as failure:
        raise unittest.SkipTest(failure.message) from None


class Balanced(HTMLParser):
    """An element that is not closed, or in another's place, is an error."""

    def __init__(self, text):
        super().__init__()
        self.open = []
        self.feed(text)
        self.close()
        if self.open:
            raise ValueError(f"<{self.open[-1]}> is not closed")

    def handle_starttag(self, tag, attrs):
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        """Those are whole."""

    def handle_endtag(self, tag):
        if not self.open or (name := self.open.pop()) != tag:
            raise ValueError(f"</{tag}> ends <{name if self.open else ''}>")


def dom(page, fragment=""):
    """A page as a browser without a screen, and without a network,
    has it when its scripts have run.
    """
    with tempfile.TemporaryDirectory() as home:
        return subprocess.run(
            [
                BROWSER,
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                f"--user-data-dir={home}",
                "--host-resolver-rules=MAP * ~NOTFOUND",
                "--virtual-time-budget=5000",
                "--dump-dom",
                f"{page.as_uri()}{fragment}",
            ],
            capture_output=True,
            text=True,
            check=True,
            timeout=300,
        ).stdout
