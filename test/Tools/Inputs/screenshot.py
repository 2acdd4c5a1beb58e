"""screenshot.py CHROMIUM PAGE: the page in a browser without a window.

A copy of the page gets a script that moves the pointer over the first chart; the
screenshot must have the colours of the curves and of the timeline."""

import os
import struct
import sys
import zlib

from programs import run

chromium, page = sys.argv[1:]
PROBE = """<script>
const svg = document.querySelector("figure.chart svg"), box = svg.getBoundingClientRect();
svg.dispatchEvent(new PointerEvent("pointermove", {clientX: box.left + box.width - 1, clientY: box.top + 9}));
document.body.dataset.hover = document.querySelector("figure.chart output").textContent;
document.body.dataset.wide = document.documentElement.scrollWidth > innerWidth;
</script></body>"""


def browse(*arguments):
    result = run([chromium, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                  "--user-data-dir=" + os.path.abspath("profile"), "--window-size=1280,2400", *arguments], timeout=300)
    assert result.returncode == 0, result.stderr.decode()[-2000:]
    return result.stdout.decode()


def pixels(path):
    """The colours of a PNG of 8 bits per channel, and how often each occurs."""
    data = open(path, "rb").read()
    at, packed = 8, b""
    while at < len(data):
        (size,), kind = struct.unpack_from(">I", data, at), data[at + 4:at + 8]
        body = data[at + 8:at + 8 + size]
        if kind == b"IHDR":
            width, height, depth, colour = struct.unpack_from(">IIBB", body)
        packed += body if kind == b"IDAT" else b""
        at += size + 12
    channels = {2: 3, 6: 4}[colour]
    assert depth == 8
    raw, stride = zlib.decompress(packed), width * channels
    before, counts = bytearray(stride), {}
    for row in range(height):
        line = bytearray(raw[row * (stride + 1) + 1:(row + 1) * (stride + 1)])
        unfilter(raw[row * (stride + 1)], line, before, channels)
        for i in range(0, stride, channels):
            colour = bytes(line[i:i + 3])
            counts[colour] = counts.get(colour, 0) + 1
        before = line
    return counts


def unfilter(kind, line, above, channels):
    for i in range(len(line) if kind else 0):
        left = line[i - channels] if i >= channels else 0
        corner = above[i - channels] if i >= channels else 0
        if kind == 1:
            guess = left
        elif kind == 2:
            guess = above[i]
        elif kind == 3:
            guess = (left + above[i]) // 2
        else:
            far = left + above[i] - corner
            guess = min((left, above[i], corner), key=lambda one: abs(far - one))
        line[i] = (line[i] + guess) & 255


with open(page) as source, open("probe.html", "w") as out:
    out.write(source.read().replace("</body>", PROBE))
url = "file://" + os.path.abspath("probe.html")
dom = browse("--dump-dom", url)
assert 'data-hover="step 8: loss ' in dom and ", step 8: val_loss " in dom, dom[dom.find("data-"):][:300]
assert 'data-wide="false"' in dom, "the page is wider than the window"
browse("--screenshot=" + os.path.abspath("page.png"), url)
counts = pixels("page.png")
for name, colour in (("loss", "2563eb"), ("val_loss", "d9480f")):
    seen = counts.get(bytes.fromhex(colour), 0)
    assert seen > 300, (name, seen, sorted(counts.items(), key=lambda item: -item[1])[:9])
print("curves, timeline and values under the pointer are drawn")
