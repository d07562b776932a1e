// Listens to one context inside Firefox: every request of it from its opening to its end, with what the browser knows of
// who asked. Handed over for each load, beside the agent; then `resolab.heard(parameters)` says what there was.
//
// For: more of each request than a measured load needs. Not for: judging it; no script is named, Firefox keeps none.

const LOAD_POLL_MS = 20;
const { contextId } = arguments[0];
const attempt = (read, otherwise = null) => {
  try {
    return read();
  } catch {
    return otherwise;
  }
};
const POLICIES = new Map(
  Object.keys(Ci.nsIContentPolicy)
    .filter(name => name.startsWith("TYPE_"))
    .map(name => [Ci.nsIContentPolicy[name], name.slice("TYPE_".length).toLowerCase()]));
const errorName = status => attempt(() => ChromeUtils.getXPCOMErrorName(status), `0x${status.toString(16)}`);

// Of heads no value is kept but those a reader needs: lengths, coding, where a redirection leads.
function describe(channel) {
  for (const name of ["nsIHttpChannel", "nsIHttpChannelInternal", "nsITimedChannel"]) {
    channel.QueryInterface(Ci[name]);
  }
  const { loadInfo } = channel;
  const asked = name => attempt(() => channel.getRequestHeader(name));
  const answered = name => attempt(() => channel.getResponseHeader(name));
  const location = answered("Location");
  return {
    url: channel.URI.spec,
    method: channel.requestMethod,
    policy: POLICIES.get(loadInfo.externalContentPolicyType) ?? "other",
    internalPolicy: POLICIES.get(loadInfo.internalContentPolicyType) ?? null,
    initiatorType: channel.initiatorType || null,
    referrer: attempt(() => channel.referrerInfo.originalReferrer.spec),
    contextId: loadInfo.browsingContextID || null,
    frameContextId: loadInfo.frameBrowsingContextID || null,
    isParserMade: attempt(() => loadInfo.parserCreatedScript, false),
    corsMode: attempt(() => channel.corsMode),
    priority: attempt(() => channel.QueryInterface(Ci.nsISupportsPriority).priority),
    sendsCookies: asked("Cookie") !== null,
    sendsOrigin: asked("Origin") !== null,
    isPreflight: asked("Access-Control-Request-Method") !== null,
    requestBytes: Number(asked("Content-Length") ?? 0),
    status: attempt(() => channel.responseStatus),
    location: location === null ? null : attempt(() => Services.io.newURI(location, null, channel.URI).spec),
    mime: attempt(() => channel.contentType),
    contentLength: answered("Content-Length"),
    isCoded: !["", "identity", null].includes(answered("Content-Encoding")),
    advertisesH3: (answered("Alt-Svc") ?? "").includes("h3"),
    protocol: attempt(() => channel.protocolVersion) || null,
    address: attempt(() => channel.remoteAddress),
    certificate: attempt(() => channel.securityInfo.serverCert.sha256Fingerprint),
    encodedBytes: attempt(() => channel.encodedBodySize),
    decodedBytes: attempt(() => channel.decodedBodySize),
    error: Components.isSuccessCode(channel.status) ? null : errorName(channel.status),
    openUs: channel.asyncOpenTime,
    dnsStartUs: channel.domainLookupStartTime,
    dnsEndUs: channel.domainLookupEndTime,
    connectStartUs: channel.connectStartTime,
    secureStartUs: channel.secureConnectionStartTime,
    connectEndUs: channel.connectEndTime,
    requestUs: channel.requestStartTime,
    responseUs: channel.responseStartTime,
    endUs: channel.responseEndTime,
  };
}

const rows = new Map();
let lastMs = Date.now();
const opened = channel => {
  if (!rows.has(channel.channelId)) {
    lastMs = Date.now();
    rows.set(channel.channelId, { channel, openedMs: lastMs, endedMs: null, ended: null, fromCache: false });
  }
};
const change = (channel, how) => {
  const row = rows.get(channel.channelId);
  if (row) {
    how(row);
  }
};
const TOPICS = {
  "http-on-opening-request": opened,
  // The only one of the two for where a redirection leads.
  "http-on-modify-request": opened,
  "http-on-examine-cached-response": channel => change(channel, row => { row.fromCache = true; }),
  "http-on-stop-request": channel => change(channel, row => {
    lastMs = row.endedMs = Date.now();
    row.ended = describe(channel);
    row.channel = null;
  }),
};
const observer = {
  observe(subject, topic) {
    const channel = subject.QueryInterface(Ci.nsIHttpChannel);
    if (channel.loadInfo?.originAttributes?.userContextId === contextId) {
      TOPICS[topic](channel);
    }
  },
};
Object.keys(TOPICS).forEach(topic => Services.obs.addObserver(observer, topic));
// Nothing of a page goes on while a dialog of it is open: it is cancelled, or agreed to where that is all one can do.
const DIALOG = "common-dialog-loaded";
const dialogs = {
  observe(dialog) {
    const { button0, button1 } = dialog.Dialog.ui;
    (button1 && !button1.hidden ? button1 : button0).click();
  },
};
Services.obs.addObserver(dialogs, DIALOG);

// A page may go elsewhere before its load event: then the load of that is the page's.
let loadedMs = null;
const progress = {
  onStateChange(browser, { isTopLevel }, _request, flags, status) {
    const { STATE_STOP, STATE_IS_WINDOW } = Ci.nsIWebProgressListener;
    const isEnd = isTopLevel && flags & STATE_STOP && flags & STATE_IS_WINDOW && Components.isSuccessCode(status);
    if (isEnd && Number(browser.getAttribute("usercontextid")) === contextId) {
      loadedMs ??= Date.now();
    }
  },
};
gBrowser.addTabsProgressListener(progress);

// Listen on until no request began or ended for a while, after a load event that is still to come if `loads`; then no
// more.
resolab.heard = async ({ quietMs, limitMs, loads }) => {
  const endMs = Date.now() + limitMs;
  while (loads && loadedMs === null && Date.now() < endMs) {
    await new Promise(resolve => setTimeout(resolve, LOAD_POLL_MS));
  }
  lastMs = Date.now();
  for (let untilMs; Date.now() < (untilMs = Math.min(lastMs + quietMs, endMs));) {
    await new Promise(resolve => setTimeout(resolve, untilMs - Date.now()));
  }
  Object.keys(TOPICS).forEach(topic => Services.obs.removeObserver(observer, topic));
  Services.obs.removeObserver(dialogs, DIALOG);
  gBrowser.removeTabsProgressListener(progress);
  const account = [...rows.values()].map(row => ({
    ...(row.ended ?? describe(row.channel)),
    fromCache: row.fromCache,
    openedMs: row.openedMs,
    endedMs: row.endedMs,
  }));
  return { rows: account, loadedMs };
};
return null;
