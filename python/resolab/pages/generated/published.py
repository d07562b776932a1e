"""Every number behind generated pages, with its source; no other module of this package has numbers of pages.

For: drawing, and checks against the same numbers. Sources in full, and the use of each: docs/method/generated-pages.md.
Not for: making pages from the numbers.

Sources, by letter:

A  HTTP Archive, Web Almanac 2025, page weight (July 2025), desktop.
B  HTTP Archive, Web Almanac 2024 (HTTP) and 2025 (CDN).
C  Boettger et al., An Empirical Study of the Cost of DNS-over-HTTPS, IMC 2019.
D  37 recorded real pages of 2015 to 2026, as `page import` reads them (`scripts/bench pages --facts`).
E  Sengupta et al., IEEE TNSM 2024, table II.
F  an assumption: no publication has the number, and the recordings lack the number.
"""

from collections.abc import Mapping
from types import MappingProxyType

from resolab.pages.model import Discovery, Kind, ScriptMode

KB_BYTES = 1024
PERCENTILES = (0.10, 0.25, 0.50, 0.75, 0.90)

# --- a page as a whole -------------------------------------------------------------------------------------------

REQUESTS = (27.0, 46.0, 77.0, 122.0, 185.0)
"""A: requests of a page, by percentile."""
PAGE_KB = (607.0, 1_275.0, 2_412.0, 4_570.0, 9_179.0)
"""A: bytes of a page."""
SCRIPT_REQUESTS = (5.0, 11.0, 23.0, 40.0, 67.0)
IMAGE_REQUESTS = (5.0, 9.0, 17.0, 32.0, 56.0)
STYLESHEET_REQUESTS = (2.0, 4.0, 8.0, 16.0, 31.0)
FONT_REQUESTS = (0.0, 2.0, 4.0, 7.0, 10.0)
PAGE_SCRIPT_KB = (106.0, 303.0, 708.0, 1_291.0, 2_003.0)
PAGE_IMAGE_KB = (74.0, 333.0, 1_058.0, 2_896.0, 6_856.0)
"""A: these six are checked, not drawn (`scripts/bench pages`): results of KIND_SHARES and of file sizes."""
HOSTS_MEDIAN = 20.0
"""C: half of the sites need 20 names or more."""

VARIABLES = ("requests", "hosts", "sites", "bytes", "depth", "redirects", "documents")
SPEARMAN = (
    (1.00, 0.93, 0.89, 0.83, 0.72, 0.73, 0.81),
    (0.93, 1.00, 0.96, 0.76, 0.70, 0.79, 0.86),
    (0.89, 0.96, 1.00, 0.75, 0.62, 0.77, 0.81),
    (0.83, 0.76, 0.75, 1.00, 0.54, 0.61, 0.63),
    (0.72, 0.70, 0.62, 0.54, 1.00, 0.72, 0.67),
    (0.73, 0.79, 0.77, 0.61, 0.72, 1.00, 0.64),
    (0.81, 0.86, 0.81, 0.63, 0.67, 0.64, 1.00),
)
"""D: rank correlations, in the order of VARIABLES."""

# D: regressions of logarithms: slope, intercept, standard deviation left.
HOSTS_OF_REQUESTS = (0.936, -1.166, 0.439)
SITES_OF_HOSTS = (0.958, -0.329, 0.281)
DEPTH_OF_REQUESTS = (0.381, 0.008, 0.411)
REDIRECTS_OF_REQUESTS = (1.177, -3.558, 1.085)
"""D: a regression of redirects + 0.5, as some pages have 0 redirects."""
DOCUMENTS_OF_REQUESTS = (1.010, -3.099, 0.789)

REDIRECTS_MAX_RATIO = 0.40
"""D: the largest share of a page's requests is 0.35."""
DOCUMENTS_MAX_RATIO = 0.25
"""D: the largest share is 0.25."""
DEPTH_MAX = 24
"""D: the deepest page has 23."""
CHAIN_MAX = 19
"""Browsers refuse more than 20 redirects (Fetch, HTTP-redirect fetch)."""

# --- kinds and discoverers ---------------------------------------------------------------------------------------

KIND_SHARES: Mapping[Kind, float] = MappingProxyType(
    {
        Kind.SCRIPT: 0.38,
        Kind.IMAGE: 0.29,
        Kind.STYLESHEET: 0.12,
        Kind.FONT: 0.052,
        Kind.XHR: 0.080,
        Kind.FETCH: 0.042,
        Kind.OTHER: 0.014,
        Kind.BEACON: 0.010,
        Kind.MEDIA: 0.003,
    }
)
"""Centres of the shares of requests other than documents and redirects, up to a factor. With these centres the medians
by type are A's; kinds merged in A are in the proportions of D."""
KIND_LOG_SD = 0.6
"""A: requests by type spread more than all requests do, by 0.57 to 0.76 (sd of ln, if shares were independent)."""
ROOT_REDIRECT_RATIO = 13 / 27
"""D: share of pages with a redirecting own address, among pages with redirects."""
ROOT_HOPS_MEAN = 1.4
"""D: 1 in 8 pages, 2 in 5."""
CHAIN_MEAN = 1.71
"""D: 1,093 hops in 638 chains."""
CHAIN_KINDS: Mapping[Kind, float] = MappingProxyType(
    {Kind.IMAGE: 0.74, Kind.DOCUMENT: 0.22, Kind.SCRIPT: 0.02, Kind.FETCH: 0.02}
)
"""D: the kinds of the targets of redirect chains."""
REDIRECT_STATUSES: Mapping[int, float] = MappingProxyType({302: 0.876, 307: 0.047, 301: 0.040, 303: 0.037})
"""D: shares of the statuses of 1,231 redirects."""

DISCOVERIES: Mapping[Kind, Mapping[Discovery, float]] = MappingProxyType(
    {
        Kind.IMAGE: {
            Discovery.DOCUMENT: 0.37,
            Discovery.SCRIPT: 0.36,
            Discovery.LATE: 0.25,
            Discovery.STYLESHEET: 0.02,
        },
        Kind.SCRIPT: {
            Discovery.SCRIPT: 0.62,
            Discovery.DOCUMENT: 0.20,
            Discovery.INLINE_SCRIPT: 0.13,
            Discovery.LATE: 0.05,
        },
        Kind.STYLESHEET: {
            Discovery.DOCUMENT: 0.52,
            Discovery.SCRIPT: 0.36,
            Discovery.INLINE_SCRIPT: 0.07,
            Discovery.LATE: 0.03,
            Discovery.STYLESHEET: 0.02,
        },
        Kind.DOCUMENT: {
            Discovery.SCRIPT: 0.40,
            Discovery.INLINE_SCRIPT: 0.33,
            Discovery.LATE: 0.14,
            Discovery.DOCUMENT: 0.13,
        },
        Kind.FONT: {Discovery.STYLESHEET: 0.88, Discovery.SCRIPT: 0.12},
        Kind.XHR: {Discovery.SCRIPT: 0.90, Discovery.LATE: 0.08, Discovery.INLINE_SCRIPT: 0.02},
        Kind.FETCH: {Discovery.SCRIPT: 0.93, Discovery.LATE: 0.05, Discovery.INLINE_SCRIPT: 0.02},
        Kind.BEACON: {Discovery.SCRIPT: 0.82, Discovery.LATE: 0.14, Discovery.INLINE_SCRIPT: 0.04},
        Kind.OTHER: {Discovery.SCRIPT: 0.85, Discovery.LATE: 0.10, Discovery.DOCUMENT: 0.05},
        Kind.MEDIA: {Discovery.LATE: 0.60, Discovery.DOCUMENT: 0.40},
    }
)
"""D, 20 pages with discoverers named by the recorder. Half of the late discoveries there (F) is given to scripts, as in
the page recorded with stacks through timers (images: 0.46 by scripts, 0.31 markup, 0.24 late); late fonts there are
given to style sheets (F)."""

SCRIPT_CHILDLESS_RATIO, SCRIPT_CHILDREN_MEDIAN, SCRIPT_CHILDREN_LOG_SD = 0.61, 2.44, 0.97
"""D: 61 % of scripts ask for nothing."""
FRAME_CHILDLESS_RATIO, FRAME_CHILDREN_MEDIAN, FRAME_CHILDREN_LOG_SD = 0.65, 3.0, 1.0
"""D: 65 % of frames' documents name nothing."""
SHEET_CHILDLESS_RATIO = 0.84
"""D: share of style sheets without own requests."""
PAGE_DOCUMENT_WEIGHT_RATIO, INLINE_WEIGHT_RATIO = 0.15, 0.4
"""F: the page's own document as a parent beside frames, per request of the page; of inline scripts less."""
AFTER_LOAD_CENTRE, AFTER_LOAD_LOGIT_SD = 0.10, 1.1
"""D: share of requests after the load event, 0.05, 0.09 and 0.16 by quartile, 892 of 6,439 in all."""

# --- hosts -------------------------------------------------------------------------------------------------------

FIRST_PARTY_SLOPE, FIRST_PARTY_INTERCEPT, FIRST_PARTY_SD = -1.06, 2.54, 1.162
"""D: logit of the first party's share of requests over ln hosts; 0.17, 0.39, 0.67 by quartile."""
FIRST_HOSTS_SLOPE, FIRST_HOSTS_INTERCEPT, FIRST_HOSTS_SD = 0.386, -0.164, 0.659
"""D: ln of the first party's hosts over ln hosts."""
FIRST_HOST_WEIGHT = 6.0
"""D: the document's host has 0.86 of the first party's requests (median)."""
SINGLE_CENTRE, SINGLE_SD = 0.49, 0.14
"""D: share of hosts with one request; 0.38, 0.49, 0.60 by quartile."""
ZIPF_SLOPE = 0.95
"""D: of requests over rank among the other hosts; 0.78, 0.94, 1.00 by quartile."""
STAY_RATIO: Mapping[Kind, float] = MappingProxyType(
    {Kind.DOCUMENT: 0.26, Kind.SCRIPT: 0.51, Kind.STYLESHEET: 0.66, Kind.IMAGE: 0.27}
)
"""D: share of requests on their parent's site, by the parent's kind (image: a redirect)."""
SHEET_STAYS_RATIO = 0.6
"""F: a style sheet is on its parent's site more often than other requests of a document."""
FRAME_CROSS_RATIO = 0.71
"""D: 310 of 434 documents in frames have another site than the document around."""

CDN_RATIO_DOCUMENT, CDN_RATIO_FIRST, CDN_RATIO_THIRD = 0.35, 0.52, 0.71
"""B: share of answers from a CDN: HTML, the site's other names, third parties."""
H1_RATIO_CDN, H1_RATIO_ORIGIN = 0.02, 0.21
"""B: HTTP/1.1 from CDNs and origins."""
H3_OFFERED_DOCUMENT = 0.27 / 0.35
"""B: Alt-Svc with h3 on 26 to 28 % of home pages, never from origins; of the CDNs' home pages 77 %."""
H3_OFFERED_OTHERS = 0.50
"""B and D: 45 % of third parties' answers from CDNs came by h3; D since 2020: 30 % of hosts advertise h3."""
HTTPS_RECORD_RATIO = 0.12 / 0.27
"""B: 12 % of home pages have an HTTPS record, 27 % advertise h3. F: all records are among the latter, and other hosts
have the same ratio."""
SHARED_ADDRESS_OF_SITE, SHARED_ADDRESS_OF_CDN = 0.30, 0.04
"""D: 0.89 addresses a host (median); hosts of one site share an address in 12 % of pairs; 0 to 16 % of hosts share an
address with another site."""
SHARED_CERTIFICATE_OF_SITE = 0.70
"""F: no recording has certificates; names of one site are mostly on one certificate (a wildcard)."""
ACCESS_NETWORK = "cable"
ACCESS_ROUND_TRIP_MS, ACCESS_DOWN_BPS = 25.17665, 165_046_798
"""E: the network a generated page's instants are an estimate on."""
FAR_CDN_MEDIAN_MS, FAR_ORIGIN_MEDIAN_MS, FAR_LOG_SD = 4.0, 30.0, 1.0
"""F: round trip beyond the access network's; D has a median round trip of 38 ms a host, 19 to 70 by page."""

# --- sizes -------------------------------------------------------------------------------------------------------

SCRIPT_KB = (0.4, 1.2, 4.6, 21.8, 83.5)
"""A: percentiles of one file, in kB."""
IMAGE_KB = (0.042, 1.0, 8.0, 48.0, 183.0)
"""A: percentiles of one file, in kB; the 0 at 10 % is a pixel of 43 bytes (D)."""
IMAGE_LEVEL, IMAGE_LEVEL_LOG_SD = 1.8, 0.7
TEXT_SCALE_EXPONENT = 0.25
"""A: images make a page heavier: their bytes spread more (sd of ln 1.77) than their number (0.94). The bytes of scripts
(1.15) spread hardly more than their number (1.01). So a level makes all images of a page larger or smaller. Missing
or excess bytes change images by a factor, and other kinds by the factor to this power. With these values the medians
of image and script bytes are about the published medians."""
FONT_KB = (16.0, 22.0, 35.0, 75.0, 158.0)
"""A: 10 % and 90 %; 35 is 139 kB in 4 fonts of a page; values between are F."""
STYLESHEET_KB = (0.4, 1.3, 4.1, 15.0, 50.0)
"""A: the value at 90 %; D for lower percentiles."""
MEDIA_MEDIAN_BYTES, MEDIA_LOG_SD = 300_000.0, 1.5
"""F: the size of one media file."""
DOCUMENT_MEDIAN_BYTES, DOCUMENT_LOG_SD = 22.0 * KB_BYTES, 1.0
"""A: HTML of a median home page; spread F."""
FRAME_MEDIAN_BYTES, FRAME_LOG_SD = 666.0, 2.5
"""D: the size of a frame's document."""
XHR_MEDIAN_BYTES, XHR_LOG_SD, FETCH_MEDIAN_BYTES, FETCH_LOG_SD = 301.0, 3.0, 167.0, 2.3
"""D: the size of an answer, by kind."""
OTHER_MEDIAN_BYTES, OTHER_LOG_SD, BEACON_MEDIAN_BYTES, BEACON_LOG_SD = 367.0, 2.5, 2.0, 1.4
"""D: the size of an answer, by kind."""
PIXEL_BYTES = 43
"""The smallest GIF; D: the first quartile of images."""
CODING: Mapping[Kind, tuple[float, float, float]] = MappingProxyType(
    {
        Kind.SCRIPT: (0.70, 3.1, 0.3),
        Kind.STYLESHEET: (0.66, 4.6, 0.4),
        Kind.DOCUMENT: (0.75, 2.6, 0.35),
        Kind.XHR: (0.51, 3.5, 0.5),
        Kind.FETCH: (0.87, 4.2, 0.5),
    }
)
"""D: share with content coding, and for coded bodies the ratio of raw to wire bytes: median, sd of ln. Documents' share
is F: D has 0.5, among them recordings without coded sizes."""
CODED_FROM_BYTES = 300
"""D: smaller bodies are sent as they are."""

# --- manners -----------------------------------------------------------------------------------------------------

SCRIPT_MODES: Mapping[ScriptMode, float] = MappingProxyType(
    {ScriptMode.SYNC: 0.55, ScriptMode.ASYNC: 0.31, ScriptMode.DEFER: 0.14}
)
"""D: of 167 scripts in markup, by Chromium's priorities."""
LATE_SCRIPT_RATIO = 0.3
"""D: share of synchronous scripts with priority Medium, located after an image."""
POST_RATIO: Mapping[Kind, float] = MappingProxyType(
    {Kind.XHR: 0.31, Kind.FETCH: 0.33, Kind.BEACON: 1.0, Kind.OTHER: 0.23}
)
NO_CONTENT_RATIO: Mapping[Kind, float] = MappingProxyType(
    {Kind.XHR: 0.13, Kind.FETCH: 0.15, Kind.BEACON: 0.71, Kind.OTHER: 0.14, Kind.IMAGE: 0.048}
)
"""D: POST, and answers 204, by kind."""
POST_MEDIAN_BYTES, BEACON_POST_MEDIAN_BYTES, POST_LOG_SD = 900.0, 223.0, 1.3
"""D: bodies of requests."""
FOREIGN_CREDENTIALS_RATIO = 0.38
"""D: 110 of 287 XHRs to other hosts with CORS."""
FETCH_NO_CORS_RATIO = 0.2
"""F: fetches to other hosts without CORS."""
ANONYMOUS_RATIO: Mapping[Kind, float] = MappingProxyType({Kind.SCRIPT: 0.03, Kind.STYLESHEET: 0.05})
"""D: markup with `crossorigin`."""
PREFLIGHT_RATIO = 0.18
"""D: of requests to other hosts with CORS."""
PRELOAD_PAGES_RATIO, PRELOADS_MAX = 0.19, 2
"""B: share of pages using preload; two uses at 90 %."""

# --- times -------------------------------------------------------------------------------------------------------

SERVER_TIME_MEDIAN_MS, SERVER_DOCUMENT_FACTOR = 10.0, 6.0
"""D: 9.3 ms over all, 79 ms for pages' own documents."""
SERVER_HOST_LOG_SD, SERVER_REQUEST_LOG_SD = 1.20, 0.97
"""D: the spread between hosts, and within a host."""
SERVER_MAX_MS = 5_000.0
DUE_MEDIAN_MS, DUE_LOG_SD = 50.0, 1.2
"""F: a script's computing time before its request. Recordings have 205, 1,046 and 4,747 ms by quartile, but these
include timers, networks and waiting."""
LATE_DUE_MEDIAN_MS, LATE_DUE_LOG_SD = 400.0, 1.0
"""F: the time of scripts running in a document after the parser has passed."""
AFTER_LOAD_MEDIAN_MS, AFTER_LOAD_LOG_SD = 500.0, 1.2
"""F: the time from the load event to the first later request of a branch."""
HEAD_PLACE_MAX = 0.15
"""F: style sheets, preloads and synchronous scripts stand in the first part of their document."""
STYLE_MS, PARSE_MS = 20.0, 5.0
"""F: from a style sheet's last byte to the request for one of the sheet's fonts; from a document's last byte to the
document's event."""
FIRST_WINDOW_BYTES = 14_600
"""RFC 6928: ten segments; receiving doubles the window every round trip."""
