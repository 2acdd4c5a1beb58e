"""Reads a page of weft report: checks that it is complete, and parses its contents."""

import html.parser
import json
import re

VOID = {"meta", "br"}


class Page(html.parser.HTMLParser):
    """Well nested, without anything from elsewhere."""

    def __init__(self, path):
        super().__init__(convert_charrefs=True)
        self.open, self.ids, self.tags = [], [], []
        self.texts, self.titles, self.data, self.cells = [], [], [], []
        self.charts, self.rects, self.wrong = [], [], []
        self.source = open(path, encoding="utf-8").read()
        self.feed(self.source)
        self.close()
        if self.open:
            self.wrong.append(f"open at the end: {self.open}")
        self.text = " ".join(" ".join(self.texts).split())

    def handle_starttag(self, tag, attributes):
        self.start(tag, dict(attributes))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.start(tag, dict(attributes))

    def start(self, tag, values):
        self.tags.append(tag)
        if "id" in values:
            self.ids.append(values["id"])
        if tag == "rect":
            self.rects.append(values)
        for name, value in values.items():
            if name in ("src", "srcset", "data", "action") or name.startswith("on"):
                self.wrong.append(f"{tag} with {name}")
            if name in ("href", "xlink:href") and not value.startswith("#"):
                self.wrong.append(f"a link to {value}")
        if tag in ("img", "iframe", "link", "object", "embed"):
            self.wrong.append(f"an element {tag}")

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(f"</{tag}> at {self.getpos()}")

    def handle_data(self, data):
        inside = self.open[-1] if self.open else ""
        if inside == "script" and data.startswith("{"):
            chart = json.loads(data)
            self.charts.append(chart)
        elif inside not in ("script", "style"):
            self.texts.append(data)
            if inside == "title":
                self.titles.append(data)
            if inside == "td":
                self.cells.append(data)

    def chart(self, title):
        return next(chart for chart in self.charts if chart["title"] == title)

    def points(self, title, name):
        (series,) = [one for one in self.chart(title)["series"] if one["name"] == name]
        return [(at, value) for at, value in series["points"]]

    def check(self):
        for match in re.findall(r"(?:url\(|@import|https?://)", self.source):
            self.wrong.append(f"{match} in the page")
        assert not self.wrong, self.wrong
        assert self.source.startswith("<!DOCTYPE html>")
        for name in ("curves", "memory", "step", "kernels", "sharding", "flags"):
            assert name in self.ids, name
