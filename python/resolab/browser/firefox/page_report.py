"""A page's account from its own process: the timings and the errors on the console.

For: the script run by the agent in the page, around the collection script of every browser, and reading the answer.
Not for: the moment of running (`page`).
"""

from typing import Any

from resolab.browser.remote import Json, read_json
from resolab.browser.timings import collect_script

PAGE_SCRIPT = """
const { classes, interfaces } = Components;
const consoleErrors = () => {
  const id = window.windowGlobalChild.innerWindowId;
  const { warningFlag, infoFlag } = interfaces.nsIScriptError;
  const storage = classes["@mozilla.org/consoleAPI-storage;1"].getService(interfaces.nsIConsoleAPIStorage);
  const written = storage.getEvents(id).filter(event => event.level === "error" || event.level === "assert");
  const thrown = Services.console.getMessageArray().filter(
    message => message instanceof interfaces.nsIScriptError && message.innerWindowID === id
      && !(message.flags & (warningFlag | infoFlag)));
  return [
    ...written.map(event => Array.from(event.arguments, String).join(" ")),
    ...thrown.map(message => message.errorMessage),
  ];
};
const loaded = () => performance.getEntriesByType("navigation")[0]?.loadEventEnd > 0;
return (async () => {
  if (document.location.href === "about:blank") {
    return null; // What was loaded is no page: a download, an empty answer.
  }
  // The parent process may hear of the end before the page's load event is over.
  while (WAIT && !loaded()) {
    await new Promise(resolve => setTimeout(resolve, 2));
  }
  const account = await EXPRESSION;
  return JSON.stringify({ ...account, consoleErrors: consoleErrors() });
})();
"""


def page_script(*, partial: bool) -> str:
    """Build the script for a page after its load event, or for a partly loaded page."""
    script = PAGE_SCRIPT.replace("WAIT", "false" if partial else "true")
    return script.replace("EXPRESSION", collect_script(wait_for_paint=not partial).strip())


def read_account(answer: Any) -> Json:
    """Read the page's answer; empty without an answer."""
    if not isinstance(answer, str):
        return {}
    account: Json = read_json(answer)
    return account
