import pytest

from resolab.basics.protocols import cold_exchange_round_trips, remainder_ms
from resolab.studies.s24.paper_numbers import DNS_EXCHANGE_MEDIAN_MS, dns_exchange_median_ms, plt_change_percent

RTT_MS = {"fiber": 14.767147, "cable": 25.17665, "dsl": 42.35979, "4g": 91.852311, "4g-medium": 104.504141}


def test_their_doudp_is_the_closed_form_plus_less_than_two_ms_in_every_profile() -> None:
    for profile, rtt in RTT_MS.items():
        assert 0.6 < remainder_ms(DNS_EXCHANGE_MEDIAN_MS[profile]["doudp"], rtt, 1) < 2


@pytest.mark.parametrize("transport", ["doq", "doh"])
def test_a_wrong_number_of_round_trips_would_not_fit_their_data(transport: str) -> None:
    rests = [
        remainder_ms(DNS_EXCHANGE_MEDIAN_MS[profile][transport], rtt, cold_exchange_round_trips(transport))
        for profile, rtt in RTT_MS.items()
    ]
    # One round trip more or less would leave rests that are negative or grow with the RTT up to 100 ms.
    assert all(10 < rest < 40 for rest in rests)


def test_what_the_paper_does_not_give_is_none() -> None:
    assert plt_change_percent("4g", "example", "doh", "full") == 52.5
    assert plt_change_percent("fiber", "wikipedia", "doq", "zero_rtt") == -0.1
    assert plt_change_percent("4g", "example", "doh", "zero_rtt") is None
    assert plt_change_percent("ideal", "example", "doh", "full") is None
    assert dns_exchange_median_ms("4g", "doq", "full") == 196.04
    assert dns_exchange_median_ms("4g", "doq", "zero_rtt") is None
    assert dns_exchange_median_ms("4g", "dot", "full") is None
