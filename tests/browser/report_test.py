#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Vinci authors
"""report.html in headless Chromium, opened as a file: what a reader sees and does.

report_test.py VINCI    runs a GEMM, a numeric study and a program with a fault, and looks at their pages.
"""
import itertools
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

from selenium import webdriver
from selenium.webdriver import ActionChains, Keys
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

from png import Png

VINCI = ""
# The vector unit reads what the copy may still be bringing.
RACE = """vinci: 1
name: race
arch: c100
buffers:
  d: {place: device, bytes: 1KiB}
kernels:
  k:
    code: |
      ld_arg X1, 0
      copy_gm_to_ubuf 0, X1, 0, 1, 16, 0, 0
      vabs.f16 512, 0, 1, 1, 1, 8, 8
      end
streams:
  main:
    - memset_async: {dst: d, value: 0, count: 1024}
    - name: racing
      kernel_launch: {kernel: k, block_dim: 1, args: [d]}
"""
LABEL_WIDTH = 120  # of the names of streams, left of the tasks


def browser():
    options = webdriver.ChromeOptions()
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                     "--window-size=1280,1000", "--force-device-scale-factor=1", "--force-color-profile=srgb"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    return webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)


def number(text):
    """The first number of a text in which narrow spaces group digits."""
    return float(re.search(r"-?[\d\u202f]+(\.\d+)?", text).group().replace("\u202f", ""))


def rgb(text):
    """A colour of the style sheet, #rrggbb."""
    return tuple(int(text[i:i + 2], 16) for i in (1, 3, 5))


class ReportTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="vinci_browser_")
        cls.vinci("gen gemm --m 256 --n 256 --k 128 --chip tiny -o gemm")
        cls.vinci("run gemm/gemm.yaml --chip tiny --report --out out/gemm")
        cls.vinci("run gemm/gemm.yaml --chip tiny --explain --range --report --out out/why")
        cls.vinci("gen db-loss-scale --elements 4096 --log2-scale 14 -o num")
        cls.vinci("run num/db-loss-scale.yaml --numerics --check --report --out out/num")
        with open(os.path.join(cls.folder.name, "race.yaml"), "w", encoding="utf-8") as file:
            file.write(RACE)
        cls.vinci("run race.yaml --chip tiny-joint --check --report --out out/race", status=3)
        cls.driver = browser()

    @classmethod
    def tearDownClass(cls):
        cls.driver.quit()
        cls.folder.cleanup()

    @classmethod
    def vinci(cls, arguments, status=0):
        done = subprocess.run([VINCI, *arguments.split()], cwd=cls.folder.name, capture_output=True, text=True)
        assert done.returncode == status, done.stdout + done.stderr

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def text_of_file(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return file.read()

    def json(self, name):
        return json.loads(self.text_of_file(name))

    def open(self, run, scheme="light"):
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia",
                                    {"features": [{"name": "prefers-color-scheme", "value": scheme}]})
        for log in ("browser", "performance"):
            self.driver.get_log(log)  # of the page before
        self.driver.get(f"file://{self.path(run)}/report.html")
        # The first frame draws the timeline.
        WebDriverWait(self.driver, 20, 0.05).until(lambda _: self.find("#lanes").get_attribute("data-end"))

    def find(self, selector):
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def text(self, selector):
        return self.find(selector).text

    def rows(self, selector):
        return [[cell.text for cell in row.find_elements(By.TAG_NAME, "td")]
                for row in self.driver.find_elements(By.CSS_SELECTOR, f"{selector} tbody tr")]

    def range(self):
        canvas = self.find("#lanes")
        return float(canvas.get_attribute("data-begin")), float(canvas.get_attribute("data-end"))

    def colour(self, name):
        return rgb(self.driver.execute_script(
            "return getComputedStyle(document.documentElement).getPropertyValue(arguments[0]).trim()", f"--{name}"))

    def middle_of(self, task):
        """Where a task is on the timeline of the whole run: pixels from its upper left corner."""
        canvas = self.find("#lanes")
        plot = canvas.size["width"] - LABEL_WIDTH
        cycles = self.json("out/gemm/stats.json")["cycles"]
        return LABEL_WIDTH + plot * (task["start"] + task["end"]) / 2 / cycles, 13

    def move_to(self, x, y):
        """A chain with the pointer at (x, y) of the timeline; the protocol counts from its centre."""
        canvas = self.find("#lanes")
        return ActionChains(self.driver, duration=0).move_to_element_with_offset(
            canvas, round(x - canvas.size["width"] / 2), round(y - canvas.size["height"] / 2))

    def test_loads_without_errors_and_without_network(self):
        for run in ("out/gemm", "out/num", "out/race", "out/why"):
            self.open(run)
            self.assertIn("Roofline", self.text("nav"))
            ids = [e.get_attribute("id") for e in self.driver.find_elements(By.CSS_SELECTOR, "[id]")]
            self.assertEqual(len(ids), len(set(ids)))
            self.assertEqual(self.driver.get_log("browser"), [])
            messages = [json.loads(e["message"])["message"] for e in self.driver.get_log("performance")]
            asked = [m["params"]["request"]["url"] for m in messages if m["method"] == "Network.requestWillBeSent"]
            self.assertTrue(asked)
            for url in asked:
                self.assertRegex(url, r"^(file|data):")

    def test_figures_are_those_of_the_other_files(self):
        self.open("out/gemm")
        stats = self.json("out/gemm/stats.json")
        summary = self.text_of_file("out/gemm/summary.txt")
        line = {row.split()[0]: row for row in summary.splitlines() if row}
        self.assertEqual(self.text("h1"), "gemm on tiny")
        self.assertIn(f"simulated time      {number(self.text('#figure-time')):.3f} us", summary)
        self.assertEqual(number(self.text("#figure-time-more")), stats["cycles"])
        self.assertIn(f"kernels             {number(self.text('#figure-kernels')):.3f} us", summary)
        self.assertEqual(number(self.text("#figure-instructions")), stats["instructions"])
        self.assertIn(f"{number(self.text('#figure-cube')):.2f} TFLOPS", line["cube"])
        self.assertIn(f"{number(self.text('#figure-cube-more')):.1f} % of the FP16 peak", line["cube"])
        self.assertIn(f"{number(self.text('#figure-l2')):.1f} GB/s in kernels", line["L2"])
        self.assertIn(f"{number(self.text('#figure-l2-more')):.1f} % of requests hit", line["L2"])
        self.assertIn(f"{number(self.text('#figure-hbm')):.1f} GB/s in kernels", line["HBM"])
        self.assertIn(f"{number(self.text('#figure-hbm-more')):.1f} % of its peak", line["HBM"])
        worked = sum(t["end"] - t["start"] for t in stats["tasks"])  # one stream: they do not overlap
        self.assertAlmostEqual(number(self.text("#figure-gap")), 100 * (1 - worked / stats["cycles"]), delta=0.051)

        traffic = {row[0]: row for row in self.rows("#traffic")}
        for level, key in (("HBM", "hbm"), ("L2", "l2")):
            self.assertEqual(number(traffic[level][1]), stats["counters"][key]["read_bytes"])
            self.assertEqual(number(traffic[level][2]), stats["counters"][key]["write_bytes"])
        each = self.rows("#each-task")
        self.assertEqual([row[0] for row in each], [t["name"] for t in stats["tasks"]])
        for row, task in zip(each, stats["tasks"]):
            self.assertEqual(number(row[6]), round((task["end"] - task["start"]) / stats["clock_hz"] * 1e6, 3))

    def test_shares_of_the_critical_path_are_of_the_warm_time(self):
        self.open("out/why")
        kernel = self.json("out/why/explain.json")["kernels"][0]
        self.assertGreater(kernel["cold_cycles"], 0)
        parts = self.driver.find_elements(By.CSS_SELECTOR, "#why .bar > i")
        widths = [float(re.search(r"width: ([\d.]+)%", part.get_attribute("style")).group(1)) for part in parts]
        self.assertEqual(len(widths), len(kernel["path"]) - 1)
        self.assertAlmostEqual(sum(widths), 100, delta=0.01)
        self.driver.execute_script("document.querySelector('#why details').open = true")
        costs = self.rows("#why details")[:len(widths)]
        self.assertNotIn("cold start", [row[0] for row in costs])
        self.assertAlmostEqual(sum(number(row[2]) for row in costs), 100, delta=0.05 * len(costs))

    def test_range_is_that_of_the_summary(self):
        self.open("out/why")
        summary = self.text_of_file("out/why/summary.txt")
        line = re.search(r"kernels, warm +([\d.]+) us, ([\d.]+) to ([\d.]+) us", summary)
        shown = re.search(r"([\d.]+) us, ([\d.]+) to ([\d.]+) us", self.text("#range-time").replace("\u202f", ""))
        self.assertEqual(shown.groups(), line.groups())
        contributions = self.json("out/why/range.json")["contributions"]
        self.assertGreater(len(contributions), 0)
        rows = self.rows("#range-costs")
        self.assertEqual([row[0] for row in rows], [c["key"] for c in contributions])
        clock = self.json("out/why/range.json")["clock_hz"]
        for row, c in zip(rows, contributions):
            both = sorted(c[end]["kernel_cycles"] for end in ("low", "high"))
            self.assertLessEqual(number(row[2]), round(both[0] / clock * 1e6, 3) + 0.0005)
            self.assertGreaterEqual(number(row[3]), round(both[1] / clock * 1e6, 3) - 0.0005)
        bars = self.driver.find_elements(By.CSS_SELECTOR, "#range-costs .span > i")
        self.assertEqual(len(bars), len(rows))

    def test_pipes_are_those_of_the_summary(self):
        for run in ("out/gemm", "out/num"):
            self.open(run)
            lines = self.text_of_file(f"{run}/summary.txt").split("\npipe ")[1].splitlines()[1:]
            expected = [line.split() for line in itertools.takewhile(str.strip, lines)]
            self.assertGreater(len(expected), 3)
            self.assertEqual(self.rows("#pipes"), expected)

    def test_a_click_on_a_header_sorts(self):
        self.open("out/num")
        header = self.find("#each-task th:nth-child(7)")  # duration(us)
        for order in ("descending", "ascending"):
            header.find_element(By.TAG_NAME, "button").click()
            self.assertEqual(header.get_attribute("aria-sort"), order)
            durations = [number(row[6]) for row in self.rows("#each-task")]
            self.assertEqual(durations, sorted(durations, reverse=order == "descending"))
            self.assertGreater(len(set(durations)), 2)
        name = self.find("#each-task th:nth-child(1) button")
        name.send_keys(Keys.ENTER)
        names = [row[0] for row in self.rows("#each-task")]
        self.assertEqual(names, sorted(names))
        self.assertIsNone(header.get_attribute("aria-sort"))

    def test_wheel_buttons_and_keys_change_the_range(self):
        self.open("out/gemm")
        canvas = self.find("#lanes")
        cycles = self.json("out/gemm/stats.json")["cycles"]
        self.assertEqual(self.range(), (0, cycles))
        self.driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", canvas)
        self.move_to(LABEL_WIDTH + 100, 10).perform()
        box = canvas.rect
        pinned = cycles * 100 / (box["width"] - LABEL_WIDTH)
        self.driver.execute_cdp_cmd("Input.dispatchMouseEvent", {
            "type": "mouseWheel", "deltaX": 0, "deltaY": -150,
            **self.driver.execute_script("const b = arguments[0].getBoundingClientRect();"
                                         "return {x: b.left + 220, y: b.top + 10}", canvas)})
        begin, end = self.range()
        self.assertLess(end - begin, 0.7 * cycles)
        # The time below the pointer stays below it.
        self.assertAlmostEqual((pinned - begin) / (end - begin), pinned / cycles, delta=0.01)
        self.assertIn(" us to ", self.text("#range"))

        self.find("button[title^='Whole run']").click()
        self.assertEqual(self.range(), (0, cycles))
        self.find("button[title^='Zoom in']").click()
        self.assertEqual(self.range(), (cycles / 4, cycles * 3 / 4))
        canvas.send_keys(Keys.ARROW_RIGHT)
        self.assertAlmostEqual(self.range()[0], cycles * 0.3)
        canvas.send_keys("0")
        canvas.send_keys("+")
        chain = ActionChains(self.driver, duration=0).move_to_element(canvas)
        chain.click_and_hold().move_by_offset(-50, 0).release().perform()
        begin, end = self.range()
        self.assertAlmostEqual(begin, cycles / 4 + 50 * (cycles / 2) / (box["width"] - LABEL_WIDTH), delta=2)

    def test_hovering_shows_the_task(self):
        self.open("out/gemm")
        for index, task in enumerate(self.json("out/gemm/stats.json")["tasks"]):
            self.move_to(*self.middle_of(task)).perform()
            tooltip = self.find("#tooltip")
            self.assertTrue(tooltip.is_displayed(), index)
            self.assertEqual(tooltip.find_element(By.TAG_NAME, "strong").text, task["name"])
            self.assertIn(task["type"], tooltip.text)
            self.assertIn(f"{task['start'] / 1850:.3f} us", tooltip.text)
        self.find("#lanes").send_keys("0")
        ActionChains(self.driver, duration=0).move_to_element(self.find("h1")).perform()
        self.assertFalse(self.find("#tooltip").is_displayed())

    def test_the_picture_shows_tasks_where_they_are(self):
        tasks = self.json("out/gemm/stats.json")["tasks"]
        seen = set()
        for scheme in ("light", "dark"):
            self.open("out/gemm", scheme)
            picture = Png(self.find("#lanes").screenshot_as_png)
            for task in tasks:
                name = {"MEMCPY_ASYNC": "copy", "KERNEL_AICORE": "kernel-aicore"}[task["type"]]
                x, _ = self.middle_of(task)
                seen.add(picture[round(x), 5])
                self.assertEqual(picture[round(x), 5], self.colour(name), (scheme, task))
            # Before the host has handed over the first copy there is none.
            before = LABEL_WIDTH + (picture.width - LABEL_WIDTH) * tasks[0]["start"] / 2 / tasks[-1]["end"]
            self.assertEqual(picture[round(before), 5], self.colour("paper"))
            legend = self.driver.find_elements(By.CSS_SELECTOR, "#timeline .legend li")
            self.assertEqual([item.text for item in legend], ["MEMCPY_ASYNC", "KERNEL_AICORE"])
        self.assertEqual(len(seen), 4)

    def test_numerics(self):
        self.open("out/num")
        numerics = self.json("out/num/numerics.json")
        rows = {row[0]: row for row in self.rows("#events")}
        for event in ("overflow", "nan", "saturated", "subnormal", "flushed", "absorbed"):
            self.assertEqual(number(rows[event][1]), sum(s[event] for s in numerics["sites"]))
        summary = self.text_of_file("out/num/summary.txt")
        first = re.search(r"^overflow .*first: (.*)$", summary, re.MULTILINE).group(1)
        self.assertEqual(rows["overflow"][3], first)
        self.assertIn("No findings", self.text("#findings"))

    def test_findings(self):
        self.open("out/race")
        findings = self.json("out/race/findings.json")["findings"]
        self.assertIn("The check found", self.text(".banner"))
        cards = self.driver.find_elements(By.CSS_SELECTOR, ".finding")
        self.assertEqual(len(cards), len(findings))
        for card, finding in zip(cards, findings):
            for text in (finding["id"], finding["message"], finding["at"]["place"], "task 'racing'"):
                self.assertIn(text, card.text)

    def test_a_page_made_later_is_the_same(self):
        before = self.text_of_file("out/gemm/report.html")
        self.vinci("report out/gemm -o later.html")
        self.assertEqual(self.text_of_file("later.html"), before)
        self.vinci("report gemm", status=2)  # no output folder


if __name__ == "__main__":
    VINCI = os.path.abspath(sys.argv.pop(1))
    unittest.main(verbosity=2)
