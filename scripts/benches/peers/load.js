(function () {
  // What browsertime reads of each load beside its own figures: resolab's instants, not rounded to milliseconds, and
  // whether the load was what was asked for. It runs when the page is complete. It must open with the function:
  // browsertime puts `return` before it, and a comment in between would end that statement.
  const navigation = performance.getEntriesByType('navigation')[0];
  return {
    plt_ms: navigation.loadEventStart,
    response_start_ms: navigation.responseStart,
    domain_lookup_ms: navigation.domainLookupEnd - navigation.domainLookupStart,
    http_version: navigation.nextHopProtocol,
    request_count: 1 + performance.getEntriesByType('resource').length
  };
})();
