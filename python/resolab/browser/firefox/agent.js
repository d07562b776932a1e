// What runs inside Firefox, with the browser's own rights, in its parent process: tabs, navigations, the network stack's
// account, forgetting. Handed over Marionette once; then the driver calls `resolab.<name>(parameters)`.
//
// For: everything that needs the browser's inside. Not for: the order of things, or judging them; both are the driver's.

const PROGRESS = Ci.nsIWebProgressListener;
const SYSTEM = Services.scriptSecurityManager.getSystemPrincipal();
const DASHBOARD = Cc["@mozilla.org/network/dashboard;1"].getService(Ci.nsIDashboard);
const PROCESS_TOOLS = Cc["@mozilla.org/processtools-service;1"].getService(Ci.nsIProcessToolsService);
const PARTIAL_WITHIN_MS = 1000;
const COLLECT_WITHIN_MS = 10000;
const SNAPSHOT_TRIES = 5;
const SNAPSHOT_WITHIN_MS = 1000;
const SNAPSHOT_PAUSE_MS = 50;

// Begun in the page's process, as by a link: begun in the parent process, the request would be sent before the page's own
// clock (navigationStart) begins.
const NAVIGATE = `
const flags = { triggeringPrincipal: Services.scriptSecurityManager.getSystemPrincipal() };
window.docShell.QueryInterface(Components.interfaces.nsIWebNavigation).loadURI(Services.io.newURI(arguments[0]), flags);
return null;
`;

const pause = ms => new Promise(resolve => setTimeout(resolve, ms));
const within = (promise, ms, otherwise) => Promise.race([promise, pause(ms).then(() => otherwise)]);
const errorName = status => {
  try {
    return ChromeUtils.getXPCOMErrorName(status);
  } catch {
    return `0x${status.toString(16)}`;
  }
};

const TOPICS = {
  "http-on-opening-request": "opened",
  // The only one of the two for where a redirection leads.
  "http-on-modify-request": "opened",
  "http-on-examine-cached-response": "cached",
  "http-on-examine-response": "answered",
  "http-on-stop-request": "stopped",
};

// Requests of one context, from their opening to their end.
class NetworkLog {
  constructor(contextId) {
    this.contextId = contextId;
    this.rows = new Map();
  }

  opened(channel) {
    if (this.rows.has(channel.channelId)) {
      return;
    }
    this.rows.set(channel.channelId, { channel, openedMs: Date.now(), endedMs: null, ended: null, fromCache: false });
  }

  answered() {}

  cached(channel) {
    const row = this.rows.get(channel.channelId);
    if (row) {
      row.fromCache = true;
    }
  }

  stopped(channel) {
    const row = this.rows.get(channel.channelId);
    if (row) {
      row.endedMs = Date.now();
      row.ended = describe(channel);
      row.channel = null;
    }
  }

  account() {
    return [...this.rows.values()].map(row => ({
      ...(row.ended ?? describe(row.channel)),
      fromCache: row.fromCache,
      openedMs: row.openedMs,
      endedMs: row.endedMs,
    }));
  }
}

const attempt = (read, otherwise = null) => {
  try {
    return read();
  } catch {
    return otherwise;
  }
};

// Instants are microseconds since 1970, 0 for what did not happen.
function describe(channel) {
  channel.QueryInterface(Ci.nsIHttpChannel);
  channel.QueryInterface(Ci.nsIHttpChannelInternal);
  channel.QueryInterface(Ci.nsITimedChannel);
  return {
    url: channel.URI.spec,
    type: attempt(() => channel.loadInfo.fetchDestination) || "other",
    method: channel.requestMethod,
    status: attempt(() => channel.responseStatus),
    protocol: attempt(() => channel.protocolVersion) || null,
    address: attempt(() => `${channel.remoteAddress}:${channel.remotePort}`),
    transferBytes: attempt(() => channel.transferSize),
    error: Components.isSuccessCode(channel.status) ? null : errorName(channel.status),
    tlsVersion: attempt(() => channel.securityInfo.protocolVersion),
    resumed: attempt(() => channel.securityInfo.resumed),
    // Firefox's own word; no server sends it.
    earlyData: attempt(() => channel.getResponseHeader("X-Firefox-Early-Data")),
    retryAfter: attempt(() => channel.getResponseHeader("Retry-After")),
    openUs: channel.asyncOpenTime,
    dnsStartUs: channel.domainLookupStartTime,
    dnsEndUs: channel.domainLookupEndTime,
    connectStartUs: channel.connectStartTime,
    connectEndUs: channel.connectEndTime,
    requestUs: channel.requestStartTime,
    responseUs: channel.responseStartTime,
    endUs: channel.responseEndTime,
  };
}

// One tab of a context.
class Tab {
  constructor(contextId, url) {
    this.contextId = contextId;
    this.element = gBrowser.addTab(url, {
      // Opened in the process the page will be in, and left blank.
      skipLoad: true,
      userContextId: contextId,
      triggeringPrincipal: SYSTEM,
      skipAnimation: true,
      inBackground: true,
    });
    this.browser = this.element.linkedBrowser;
    this.crashed = new Promise(resolve => this.browser.addEventListener("oop-browser-crashed", resolve, { once: true }));
    this.started = this.run("return null", COLLECT_WITHIN_MS);
    this.started.catch(() => {});
    this.hung = false;
  }

  // Evaluate with the system's rights in the page's process: the page's scripts cannot have replaced anything there.
  run(script, limitMs, ...values) {
    const actor = this.browser.browsingContext.currentWindowGlobal.getActor("MarionetteCommands");
    const options = { sandboxName: "system", newSandbox: true, async: false, timeout: limitMs };
    return actor.executeScript(script, values, options);
  }

  async collect(script, limitMs) {
    const silent = { silent: true };
    const answer = await within(this.run(script, limitMs), limitMs, silent).catch(error => ({ error: String(error) }));
    this.hung = answer === silent;
    return answer;
  }

  // Navigate; resolves with what became of it: { outcome, status }.
  navigate(url, limitMs) {
    let finish;
    const over = new Promise(resolve => { finish = resolve; });
    let begun = false;
    const listener = {
      QueryInterface: ChromeUtils.generateQI(["nsIWebProgressListener", "nsISupportsWeakReference"]),
      onStateChange(progress, request, flags, status) {
        if (!progress.isTopLevel || !(flags & PROGRESS.STATE_IS_WINDOW)) {
          return;
        }
        if (flags & PROGRESS.STATE_START) {
          begun = true;
        } else if (begun && flags & PROGRESS.STATE_STOP) {
          finish(Components.isSuccessCode(status) ? { outcome: "loaded" } : { outcome: "failed", error: errorName(status) });
        }
      },
    };
    const progress = this.browser.browsingContext.webProgress;
    progress.addProgressListener(listener, Ci.nsIWebProgress.NOTIFY_STATE_WINDOW);
    const timer = setTimeout(() => finish({ outcome: "timeout" }), limitMs);
    this.crashed.then(() => finish({ outcome: "crashed" }));
    this.run(NAVIGATE, limitMs, url).catch(error => finish({ outcome: "failed", error: String(error) }));
    return over.finally(() => {
      clearTimeout(timer);
      attempt(() => progress.removeProgressListener(listener));
    });
  }

  // Right after a failure the blank document still makes way for the error page: what is drawn of it then never comes.
  async snapshot() {
    const { width, height } = this.browser.getBoundingClientRect();
    const area = new DOMRect(0, 0, width, height);
    for (let tries = 0; tries < SNAPSHOT_TRIES; tries++) {
      const drawing = this.browser.browsingContext.currentWindowGlobal.drawSnapshot(area, 1, "rgb(255,255,255)");
      const image = await within(drawing, SNAPSHOT_WITHIN_MS, null).catch(() => null);
      if (image) {
        return image;
      }
      await pause(SNAPSHOT_PAUSE_MS);
    }
    return null;
  }

  async screenshot() {
    const image = await this.snapshot();
    if (!image) {
      return null;
    }
    const canvas = document.createElementNS("http://www.w3.org/1999/xhtml", "canvas");
    [canvas.width, canvas.height] = [image.width, image.height];
    canvas.getContext("2d").drawImage(image, 0, 0);
    image.close();
    return canvas.toDataURL("image/png").split(",")[1];
  }

  // Process of its document; -1: none.
  pid() {
    return pidOf(this.browser.browsingContext);
  }

  close() {
    const pid = this.pid();
    const ended = framePids(this.browser.browsingContext);
    if (this.hung && pid > 0) {
      // An endless script would keep a processor busy beside the next load.
      ended.add(pid);
    }
    gBrowser.removeTab(this.element, { animate: false, skipPermitUnload: true });
    ended.forEach(one => attempt(() => PROCESS_TOOLS.kill(one)));
  }
}

const pidOf = context => attempt(() => context.currentWindowGlobal.osPid, -1);

// Processes that frames of other sites have for themselves. Each knows all frames of its page and would take them out one
// by one: of 190 frames in 37 processes that is half of what closing costs. Ended at once they do not.
function framePids(context) {
  const pids = new Set(attempt(() => context.getAllBrowsingContextsInSubtree(), []).map(pidOf));
  [-1, Services.appinfo.processID, ...[...tabs.values()].map(tab => tab.pid())].forEach(one => pids.delete(one));
  return pids;
}

const tabs = new Map();
const logs = new Map();
let allowed = () => true;
let altSvcHeeded = true;
let nextTab = 1;

const observer = {
  observe(subject, topic) {
    const channel = subject.QueryInterface(Ci.nsIHttpChannel);
    if (TOPICS[topic] === "opened" && !allowed(channel)) {
      channel.cancel(Cr.NS_ERROR_UNKNOWN_HOST);
    }
    if (topic === "http-on-examine-response" && !altSvcHeeded) {
      channel.setResponseHeader("Alt-Svc", "", false);
    }
    logs.get(channel.loadInfo?.originAttributes?.userContextId)?.[TOPICS[topic]](channel);
  },
};

// The answer is made on the network's own thread, behind everything that was asked of it before.
const connectionsAsked = () => new Promise(resolve => DASHBOARD.requestHttpConnections(resolve));

// Well below the driver's limit for a call.
const DOH_WARMING_MS = 5_000;

const lookUp = name => new Promise(resolve => {
  const { RESOLVE_TYPE_DEFAULT, RESOLVE_BYPASS_CACHE } = Ci.nsIDNSService;
  const listener = { onLookupComplete: resolve };
  Services.dns.asyncResolve(
    name, RESOLVE_TYPE_DEFAULT, RESOLVE_BYPASS_CACHE, null, listener, Services.tm.currentThread, {});
});

globalThis.resolab = {
  // Once. `names`: what may be asked for; `heedAltSvc`: whether pages' Alt-Svc fields count; `pageScript`: run in every
  // document before its own scripts.
  begin({ names, heedAltSvc, pageScript, width, height }) {
    altSvcHeeded = heedAltSvc;
    const patterns = names.map(name => (name.startsWith("*.") ? name.slice(1) : name));
    const isNamed = host => patterns.some(name => (name.startsWith(".") ? host.endsWith(name) : host === name));
    // What a page asks for is of its context; the browser's own requests are of none.
    const isOfPage = channel => channel.loadInfo?.originAttributes?.userContextId > 0;
    allowed = channel => isNamed(channel.URI.host) || (names.includes("*") && isOfPage(channel));
    Object.keys(TOPICS).forEach(topic => Services.obs.addObserver(observer, topic));
    const script = `addEventListener("DOMWindowCreated", event => { with (event.target.defaultView) { ${pageScript} } }, true);`;
    window.messageManager.loadFrameScript(`data:,${encodeURIComponent(script)}`, true);
    window.resizeTo(width, height);
    return Services.appinfo.version;
  },

  // Open a tab for `url` in a context; its process is up when this resolves.
  async open({ contextId, url, wait }) {
    const tab = new Tab(contextId, url);
    tabs.set(nextTab, tab);
    if (wait) {
      await tab.started;
    }
    return nextTab++;
  },

  async load({ tab: number, url, limitMs, script, partialScript }) {
    const tab = tabs.get(number);
    await tab.started;
    gBrowser.selectedTab = tab.element;
    const log = new NetworkLog(tab.contextId);
    logs.set(tab.contextId, log);
    const { outcome, error } = await tab.navigate(url, limitMs);
    let account = null;
    if (outcome === "loaded") {
      account = await Promise.race([tab.collect(script, COLLECT_WITHIN_MS), tab.crashed.then(() => null)]);
    } else if (outcome === "timeout") {
      account = await tab.collect(partialScript, PARTIAL_WITHIN_MS);
      tab.browser.stop();
    }
    const network = log.account();
    logs.delete(tab.contextId);
    return { outcome, error: error ?? null, account, network, hung: tab.hung };
  },

  screenshot({ tab }) {
    return tabs.get(tab).screenshot();
  },

  close({ tab }) {
    tabs.get(tab)?.close();
    tabs.delete(tab);
  },

  // Forget exactly what is named; resolves when it is forgotten.
  async clear({ dnsCache, httpCache, sockets, tickets, dohWarmedBy }) {
    if (sockets) {
      // Pruning (net:prune-all-connections) would not do: a pruned QUIC connection drains for three probe timeouts
      // (RFC 9000, section 10.2), and Firefox opens no other to the same origin meanwhile.
      Services.obs.notifyObservers(null, "net:cancel-all-connections");
      // An origin whose HTTP/3 failed once would be spoken to over h2 for the rest of the browser's life.
      Services.obs.notifyObservers(null, "network:reset-http3-excluded-list");
    }
    if (httpCache) {
      Services.cache2.clear();
      ChromeUtils.clearResourceCache();
    }
    if (tickets) {
      Cc["@mozilla.org/psm;1"].getService(Ci.nsINSSComponent).clearSSLExternalAndInternalSessionCache();
    }
    if (dnsCache) {
      Services.dns.clearCache(true);
    }
    if (dohWarmedBy) {
      // The network may lose it: whether the connection was warm is judged by what the measured load then has.
      await Promise.race([lookUp(dohWarmedBy), pause(DOH_WARMING_MS)]);
      Services.dns.clearCache(true);
    }
    if (sockets) {
      await connectionsAsked();
    }
  },

  // Drop whatever a context stored.
  dispose({ contextId }) {
    for (const [number, tab] of tabs) {
      if (tab.contextId === contextId) {
        resolab.close({ tab: number });
      }
    }
    Services.clearData.deleteDataFromOriginAttributesPattern({ userContextId: contextId });
  },
};
return resolab.begin(arguments[0]);
