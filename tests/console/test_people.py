"""Who may do what, seen from a browser: log-on, lock, roles, forged requests, a new account."""

from __future__ import annotations

import http.client
import re
import urllib.parse
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from controller.cli.demo_console import PASSWORD

pytestmark = [pytest.mark.usefixtures("calm"), pytest.mark.timeout(300), pytest.mark.system]

Visit = Callable[..., Page]
Hall = Any
Until = Callable[[Callable[[], Any], str], Any]

SEND = """async ([path, body, token]) => {
  const csrf = token ?? document.querySelector('meta[name="csrf"]').content;
  const answer = await fetch(path, { method: "POST", body: JSON.stringify(body),
    headers: { "content-type": "application/json", accept: "application/json", "x-csrf-token": csrf } });
  return [answer.status, (await answer.json()).message ?? ""];
}"""


def send(page: Page, path: str, body: dict[str, Any], token: str | None = None) -> tuple[int, str]:
    status, message = page.evaluate(SEND, [path, body, token])
    return status, message


def an_order(command: str, **args: Any) -> dict[str, Any]:
    return {"command": command, "args": args, "seen_seq": 1, "id": f"test-{command}-0001"}


def test_a_wrong_password_opens_nothing(hall: Hall, visit: Visit) -> None:
    page = visit(hall, "anna", fresh=True)
    page.locator("text=Log off").click()
    page.wait_for_url("**/logon")
    for name, password in (("anna", "not it at all"), ("nobody", PASSWORD), ("", "")):
        if not name:
            continue
        page.fill('form.stack input[name="name"]', name)
        page.fill('form.stack input[name="password"]', password)
        page.press('form.stack input[name="password"]', "Enter")
        expect(page.locator(".fault")).to_have_text("name or password is wrong")
    page.goto("floor")
    page.wait_for_url("**/logon?next=/floor")


def test_a_locked_screen_shows_the_table_and_orders_nothing_until_the_password(hall: Hall, visit: Visit) -> None:
    page = visit(hall, "anna", "table/cl-1", fresh=True)
    expect(page.locator("#table-actions [data-act]").first).to_be_enabled()
    page.keyboard.press("l")
    expect(page.locator("#lockbar")).to_be_visible()
    expect(page.locator("[data-act]:not(:disabled)")).to_have_count(0)
    before = page.evaluate("document.body.dataset.seq")
    page.wait_for_function("before => document.body.dataset.seq !== before", arg=before)  # the picture goes on
    assert send(page, "/table/cl-1/order", an_order("pause", reason="x"))[0] == 423
    page.goto("accounts")
    expect(page.locator("h1")).to_have_text("403")
    page.goto("table/cl-1")
    page.fill("#unlock input", "wrong one 77")
    page.press("#unlock input", "Enter")
    expect(page.locator("[data-unlock-text]")).to_contain_text("wrong")
    page.fill("#unlock input", PASSWORD)
    page.press("#unlock input", "Enter")
    expect(page.locator("#lockbar")).to_be_hidden()
    expect(page.locator("#table-actions [data-act]").first).to_be_enabled()


def test_roles_are_refused_what_is_not_theirs(hall: Hall, visit: Visit) -> None:
    dealer = visit(hall, "dora", "table/cl-1")
    assert dealer.locator('[data-dialog="void"], [data-dialog="resume"], [data-ack]').count() == 0
    for command in ("resume", "void", "start_shift", "resolve", "approve"):
        status, message = send(dealer, "/table/cl-1/order", an_order(command, reason="x"))
        assert status == 403
        assert "dealer may not" in message
    assert send(dealer, "/table/cl-1/acknowledge", {"key": "incident:1"})[0] == 403
    technician = visit(hall, "tilo", "table/cl-1")
    assert send(technician, "/table/cl-1/order", an_order("pause", reason="x"))[0] == 403
    assert technician.locator("[data-act]").count() == 0
    admin = visit(hall, "admin")
    assert send(admin, "/table/cl-1/order", an_order("pause", reason="x"))[0] == 403
    for page, path in ((dealer, "accounts"), (technician, "audit"), (admin, "table/cl-1/dealer")):
        page.goto(path)
        expect(page.locator("h1")).to_have_text("403")
    for command in ("place_bets", "snapshot", "no_such"):
        assert send(dealer, "/table/cl-1/order", an_order(command))[0] == 403
    with hall.studios["cl-1"].client() as client:
        assert "pause" not in client.command("status").data["holds"]


def test_forged_requests_are_refused(hall: Hall, visit: Visit) -> None:
    page = visit(hall, "anna", "table/cl-1")
    assert send(page, "/table/cl-1/order", an_order("pause", reason="x"), "another token")[0] == 403
    cookie = "; ".join(f"{one['name']}={one['value']}" for one in page.context.cookies())
    token = page.locator('meta[name="csrf"]').get_attribute("content") or ""
    where = urllib.parse.urlsplit(hall.url)
    plain = {"Cookie": cookie, "X-CSRF-Token": token, "Content-Type": "application/json"}

    def raw(path: str, headers: dict[str, str], method: str = "POST") -> int:
        connection = http.client.HTTPConnection(where.hostname or "", where.port, timeout=10)
        try:
            connection.request(method, path, body=b"{}" if method == "POST" else None, headers=headers)
            return connection.getresponse().status
        finally:
            connection.close()

    assert raw("/touch", plain) == 200
    assert raw("/touch", plain | {"Origin": "http://evil.example"}) == 400
    assert raw("/touch", plain | {"Sec-Fetch-Site": "cross-site"}) == 400
    assert raw("/touch", plain | {"Host": "evil.example"}) == 400
    assert raw("/touch", plain | {"Content-Length": "9999999"}) == 400
    assert raw("/touch", {"X-CSRF-Token": token}) == 401
    assert raw("/floor/live", {}, "GET") == 401
    assert raw("/static/../accounts.py", {}, "GET") == 404


def test_cookies_and_headers_are_strict(hall: Hall, visit: Visit) -> None:
    page = visit(hall, "anna")
    (cookie,) = page.context.cookies()
    assert cookie["httpOnly"]
    assert cookie["sameSite"] == "Strict"
    answer = page.goto("floor")
    assert answer is not None
    policy = answer.headers["content-security-policy"]
    assert "script-src 'self'" in policy
    assert "unsafe" not in policy
    assert answer.headers["cache-control"] == "no-store"
    inline = page.evaluate("document.querySelectorAll('script:not([src]), style, [style], [onclick]').length")
    assert inline == 0


def test_an_account_from_its_making_to_the_first_log_on_and_the_audit_trail(hall: Hall, visit: Visit) -> None:
    admin = visit(hall, "admin", "accounts")
    admin.fill('form.row input[name="name"]', "newcomer")
    admin.select_option('form.row select[name="role"]', "dealer")
    admin.click("text=Make account")
    password = admin.locator(".made code").inner_text()
    admin.goto("accounts")
    expect(admin.locator(".made")).to_have_count(0)  # shown once
    with admin.expect_download() as download:
        admin.click("text=newcomer.key")
    text = download.value.path().read_text()
    assert re.search(r'public-key = "[^"]{40}"', text)
    assert "secret" not in text
    page = visit(hall, "dora", fresh=True)
    page.locator("text=Log off").click()
    page.fill('form.stack input[name="name"]', "newcomer")
    page.fill('form.stack input[name="password"]', password)
    page.press('form.stack input[name="password"]', "Enter")
    page.wait_for_url("**/password")
    page.goto("floor")
    page.wait_for_url("**/password")
    for name, value in (("old", password), ("new", "my very own 5"), ("again", "my very own 5")):
        page.fill(f'input[name="{name}"]', value)
    page.click("text=Change")
    page.wait_for_url("**/floor")
    admin.goto("audit")
    trail = admin.locator("table").inner_text()
    for said in ("account add", "logged on", "password changed"):
        assert said in trail
    assert password not in trail
