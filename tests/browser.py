# SPDX-License-Identifier: BSD-2-Clause
"""The browser in which pages are tested, without a window."""

from __future__ import annotations

from shutil import which

from selenium import webdriver

DESKTOP, PHONE = (1280, 900), (390, 844)


def start_browser() -> webdriver.Chrome:
    options = webdriver.ChromeOptions()
    options.binary_location = which("chromium") or ""
    for word in ("--headless=new", "--no-sandbox", "--disable-gpu"):
        options.add_argument(word)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    return webdriver.Chrome(options=options, service=webdriver.ChromeService(which("chromedriver")))


def resize(browser: webdriver.Chrome, size: tuple[int, int], *, dark: bool = False) -> None:
    width, height = size
    metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})
