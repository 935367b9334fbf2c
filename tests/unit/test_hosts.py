"""Under which names a server answers: no page of another's can reach it by a name of its own."""

import pytest

from cloister.domain.errors import InvalidRequest
from cloister.interfaces.http.hosts import AllowedHosts
from cloister.settings import read_settings

LOOPBACK = ["localhost", "localhost:8420", "LocalHost.", "console.localhost", "127.0.0.1:1", "127.8.9.1", "[::1]:8420"]
ADDRESSES = ["10.1.2.3:8420", "192.168.0.9", "[2001:db8::1]:80", "[2001:db8::1]"]
NAMES = ["evil.example", "evil.example:8420", "localhost.evil.example", "127.0.0.1.evil.example", "xlocalhost"]
NONSENSE = ["", ":80", "[::1", "[evil]", "localhost:80:80", "localhost:x", "127.0.0.1]", "é", "[::1]x", "a" * 5_000]


def allowed(hosts: AllowedHosts, names: list[str]) -> list[bool]:
    """Asked twice: the second answer is remembered."""
    return [hosts.allows(name.encode("latin-1")) and hosts.allows(name.encode("latin-1")) for name in names]


@pytest.mark.parametrize("bound_to", ["127.0.0.1", "::1", "localhost"])
def test_a_server_on_the_loopback_address_answers_under_loopback_names_alone(bound_to: str) -> None:
    hosts = AllowedHosts(bound_to)
    assert all(allowed(hosts, LOOPBACK))
    assert not any(allowed(hosts, [*ADDRESSES, *NAMES, *NONSENSE]))
    assert not hosts.trusts_keys


@pytest.mark.parametrize("bound_to", ["0.0.0.0", "::", "10.1.2.3"])
def test_a_server_that_others_can_reach_also_answers_under_addresses_which_cannot_be_rebound(bound_to: str) -> None:
    hosts = AllowedHosts(bound_to)
    assert all(allowed(hosts, [*LOOPBACK, *ADDRESSES]))
    assert not any(allowed(hosts, [*NAMES, *NONSENSE]))
    assert hosts.trusts_keys


@pytest.mark.parametrize("bound_to", ["127.0.0.1", "0.0.0.0", "memory.example"])
def test_names_of_the_setting_are_the_servers_own_and_no_others(bound_to: str) -> None:
    hosts = AllowedHosts(bound_to, ["Memory.Example.", "cloister"])
    assert all(allowed(hosts, ["memory.example", "MEMORY.example:443", "memory.example.", "cloister:8420"]))
    assert not any(allowed(hosts, [*NAMES, *NONSENSE, "www.memory.example"]))
    assert not hosts.trusts_keys


def test_a_star_allows_every_name() -> None:
    assert all(allowed(AllowedHosts("0.0.0.0", ["*"]), [*LOOPBACK, *ADDRESSES, *NAMES]))


def test_what_is_remembered_has_an_end() -> None:
    hosts = AllowedHosts()
    for number in range(3_000):
        assert not hosts.allows(f"{number}.example".encode())
    assert hosts.allows(b"localhost")


@pytest.mark.parametrize("given", ["http://memory.example", "memory.example:443", "a b", "é.example", "a,b/c"])
def test_the_setting_takes_names_alone(given: str) -> None:
    with pytest.raises(InvalidRequest, match="CLOISTER_ALLOWED_HOSTS"):
        read_settings("data", {"CLOISTER_ALLOWED_HOSTS": given})
    kept = read_settings("data", {"CLOISTER_ALLOWED_HOSTS": " memory.example , [::1],2001:db8::1 "})
    assert kept.allowed_hosts == ("memory.example", "[::1]", "2001:db8::1")


@pytest.mark.parametrize("given", ["http://a", "a:8420", "a b", "a/b", "é", "a,b"])
def test_the_host_for_other_servers_is_a_name_or_an_address_alone(given: str) -> None:
    """OPS-4: each process adds its own port."""
    with pytest.raises(InvalidRequest, match="CLOISTER_PEER_HOST"):
        read_settings("data", {"CLOISTER_PEER_HOST": given})
    for kept in ("memory-1.internal", "10.0.0.5", "2001:db8::1"):
        assert read_settings("data", {"CLOISTER_PEER_HOST": f" {kept} "}).peer_host == kept
    assert read_settings("data", {}).peer_host is None
