"""Firefox behind its standard input: one line of JSON for each page to load, one line of JSON back for each.

In: {"preferences": {...}, "url": "..."}; out: {"title": ..., "protocol": ..., "error": ...}. Before each load the
preferences are set and connections, looked-up names and cached files forgotten. It ends with its standard input. For: tests;
run where the browser shall run (`firefox.py CA_FILE`). Not for: measuring; nothing here is timed. Needs only the standard library.

Driven by Marionette, the browser's own protocol: frames `LENGTH:[0, id, command, parameters]` over TCP.
"""

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

BINARIES = ("/usr/lib/firefox-esr/firefox-esr", "firefox-esr", "firefox")
PORT = 2828  # nobody else is in the host it runs in
START_TIMEOUT_S, PAGE_TIMEOUT_MS, END_TIMEOUT_S = 60.0, 20_000, 5.0
OFF = (
    "app.normandy.enabled", "app.update.auto", "app.update.enabled", "browser.newtabpage.enabled", "browser.region.update.enabled",
    "browser.safebrowsing.downloads.enabled", "browser.safebrowsing.malware.enabled", "browser.safebrowsing.phishing.enabled",
    "browser.search.update", "browser.shell.checkDefaultBrowser", "browser.translations.enable",
    "datareporting.healthreport.uploadEnabled", "datareporting.policy.dataSubmissionEnabled", "dom.push.connection.enabled",
    "doh-rollout.enabled", "extensions.getAddons.cache.enabled", "extensions.systemAddon.update.enabled", "extensions.update.enabled",
    "geo.enabled", "media.gmp-manager.updateEnabled", "network.captive-portal-service.enabled", "network.connectivity-service.enabled",
    "network.http.http3.disable_when_third_party_roots_found", "network.predictor.enabled", "network.prefetch-next",
    "nimbus.rollouts.enabled", "privacy.trackingprotection.enabled", "security.certerrors.mitm.priming.enabled",
    "security.remote_settings.crlite_filters.enabled", "security.remote_settings.intermediates.enabled", "toolkit.telemetry.enabled",
    "toolkit.telemetry.unified",
)  # fmt: skip
PREFERENCES = dict.fromkeys(OFF, False) | {
    "app.update.disabledForTesting": True,
    "browser.startup.homepage_override.mstone": "ignore",
    "browser.startup.page": 0,
    "network.dns.disableIPv6": True,
    "network.dns.disablePrefetch": True,
    "network.http.speculative-parallel-limit": 0,
    "security.OCSP.enabled": 0,
    "services.settings.server": "data:,#remote-settings-dummy/v1",
    "toolkit.telemetry.server": "",
}
FORGET = """
Services.cache2.clear();
Services.obs.notifyObservers(null, "net:prune-all-connections");
Services.dns.clearCache(true);
"""
SET = """
const setters = {boolean: "setBoolPref", number: "setIntPref", string: "setCharPref"};
for (const [name, value] of Object.entries(arguments[0])) Services.prefs[setters[typeof value]](name, value);
"""
SEEN = "return [document.title, performance.getEntriesByType('navigation')[0].nextHopProtocol];"


class MarionetteError(Exception):
    """What the browser says went wrong."""


class Marionette:
    """The connection to the browser."""

    def __init__(self, port):
        self._socket = socket.create_connection(("127.0.0.1", port), START_TIMEOUT_S)
        self._file = self._socket.makefile("rb")
        self._sent_count = 0
        self._frame()

    def call(self, command, **parameters):
        self._sent_count += 1
        text = json.dumps([0, self._sent_count, command, parameters]).encode()
        self._socket.sendall(f"{len(text)}:".encode() + text)
        _, _, error, result = self._frame()
        if error is not None:
            raise MarionetteError(error["message"].splitlines()[0])
        return result.get("value") if isinstance(result, dict) else result

    def run(self, script, *arguments, context="chrome"):
        self.call("Marionette:SetContext", value=context)
        return self.call("WebDriver:ExecuteScript", script=script, args=arguments)

    def _frame(self):
        length = b""
        while not length.endswith(b":"):
            byte = self._file.read(1)
            if not byte:
                raise MarionetteError("the browser is gone")
            length += byte
        return json.loads(self._file.read(int(length[:-1])))


def profile(folder, ca_file):
    """Preferences and the trusted authority."""
    certutil = ["certutil", "-d", f"sql:{folder}"]
    subprocess.run([*certutil, "-N", "--empty-password"], check=True)
    subprocess.run([*certutil, "-A", "-t", "C,,", "-n", "resolab", "-i", ca_file], check=True)
    preferences = PREFERENCES | {"marionette.port": PORT}
    lines = [f"user_pref({json.dumps(name)}, {json.dumps(value)});\n" for name, value in preferences.items()]
    (folder / "user.js").write_text("".join(lines))


def start(folder):
    """Start the browser and a session with it."""
    binary = next((found for found in map(shutil.which, BINARIES) if found), None)
    if binary is None:
        sys.exit("Firefox is not on this machine: run scripts/setup --interop")
    command = [
        binary,
        "--headless",
        "--no-remote",
        "--profile",
        str(folder),
        "--marionette",
        "--remote-allow-system-access",
    ]
    environment = os.environ | {"HOME": str(folder), "MOZ_REMOTE_SETTINGS_DEVTOOLS": "1"}
    silence = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    tie = ["setpriv", "--pdeathsig", "KILL"]
    process = subprocess.Popen([*tie, *command], env=environment, start_new_session=True, **silence)
    deadline = time.monotonic() + START_TIMEOUT_S
    while process.poll() is None and time.monotonic() < deadline:
        with contextlib.suppress(OSError):
            return process, Marionette(PORT)
        time.sleep(0.05)
    process.kill()
    sys.exit(f"Firefox did not start: exit code {process.wait()}")


def load(marionette, preferences, url):
    """Load one page as if nothing had been loaded before."""
    marionette.run(SET, preferences)
    marionette.run(FORGET)
    try:
        marionette.call("Marionette:SetContext", value="content")
        marionette.call("WebDriver:Navigate", url=url)
        title, protocol = marionette.run(SEEN, context="content")
    except MarionetteError as error:
        return {"title": None, "protocol": None, "error": str(error)}
    return {"title": title, "protocol": protocol, "error": None}


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with tempfile.TemporaryDirectory(prefix="resolab-firefox-", ignore_cleanup_errors=True) as folder:
        profile(Path(folder), sys.argv[1])
        process, marionette = start(Path(folder))
        try:
            marionette.call("WebDriver:NewSession", capabilities={"timeouts": {"pageLoad": PAGE_TIMEOUT_MS}})
            for line in sys.stdin:
                asked = json.loads(line)
                said = load(marionette, asked["preferences"], asked["url"])
                sys.stdout.write(json.dumps(said) + "\n")
                sys.stdout.flush()
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGTERM)
            try:
                process.wait(END_TIMEOUT_S)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


if __name__ == "__main__":
    main()
