"""Attached files: text and PDF, read in the browser and recorded as messages with their name; what cannot be read says why."""

from playwright.sync_api import expect

from support.clients.browser import Desk, Slow, Tab
from support.clients.chat_client import messages
from support.servers.fake_endpoint import FakeEndpoint


def pdf(text: str) -> bytes:
    """The smallest file that is a PDF with a line of text."""
    stream = f"BT /F1 24 Tf 72 720 Td ({text}) Tj ET".encode()
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    body, offsets = b"%PDF-1.4\n", list[int]()
    for number, content in enumerate(objects, 1):
        offsets.append(len(body))
        body += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    head = b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    tail = b"trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF" % (len(objects) + 1, len(body))
    return body + head + table + tail


def attach(tab: Tab, name: str, kind: str, content: bytes) -> None:
    tab.page.locator("input[type=file]").set_input_files([{"name": name, "mimeType": kind, "buffer": content}])


def test_a_text_file_is_a_message_with_its_name_and_the_model_reads_it(desk: Desk, model: FakeEndpoint) -> None:
    tab = desk.sign_in()
    attach(tab, "notes.txt", "text/plain", "The gate code is 4417.\nשלום".encode())
    expect(tab.page.get_by_role("list", name="Attachments")).to_contain_text("notes.txt")
    tab.converse("What does it say?", "Noted.")
    file = tab.page.get_by_role("article", name="Attached file")
    expect(file).to_have_text("notes.txt")
    file.get_by_role("button", name="notes.txt").click()
    expect(file).to_contain_text("The gate code is 4417.")
    assert "The gate code is 4417." in str(model.asked[-1].body)
    first, question, _ = messages(desk.tenant, tab.session)
    assert first["content"].startswith("File “notes.txt”:\n\nThe gate code is 4417.")
    assert first["metadata"]["attachment"] == {"name": "notes.txt", "part": 1, "parts": 1}
    assert question["content"] == "What does it say?"
    tab.page.reload()
    expect(file).to_have_text("notes.txt")


def test_a_conversation_that_begins_with_files_is_called_by_the_first(desk: Desk) -> None:
    """The events of the first file were taken for those of a conversation that existed before."""
    slow = Slow()
    desk.context.route("**/messages/batch", slow.hold)
    tab = desk.sign_in()
    attach(tab, "notes.txt", "text/plain", b"The gate code is 4417.")
    attach(tab, "plan.txt", "text/plain", b"Beans along the south wall.")
    tab.say("What do they say?")
    # The session was created, and the tab has heard of it, before its first file is stored.
    expect(tab.row("Untitled chat")).to_be_visible()
    slow.let_go()
    expect(tab.replies).to_have_count(1)
    expect(tab.row("notes.txt")).to_be_visible()


def test_the_text_of_a_pdf_is_read_in_the_browser(desk: Desk, model: FakeEndpoint) -> None:
    tab = desk.sign_in()
    attach(tab, "plan.pdf", "application/pdf", pdf("Beans along the south wall"))
    tab.converse("What is planned?", "Noted.")
    assert messages(desk.tenant, tab.session)[0]["content"] == "File “plan.pdf”:\n\nBeans along the south wall"
    assert "Beans along the south wall" in str(model.asked[-1].body)
    assert desk.strayed == []


def test_a_long_file_is_several_messages(desk: Desk) -> None:
    tab = desk.sign_in()
    attach(tab, "long.txt", "text/plain", ("One line of many, with words.\n" * 2_000).encode())
    tab.converse("Long?", "Noted.")
    files = tab.page.get_by_role("article", name="Attached file")
    expect(files).to_have_count(4)
    expect(files.first).to_have_text("long.txt (1/4)")


def test_a_hit_in_a_file_opens_the_file_which_can_be_deleted(desk: Desk) -> None:
    """It led to a closed chip, and there was no way to delete it."""
    tab = desk.sign_in()
    attach(tab, "notes.txt", "text/plain", b"The gate code is 4417.")
    tab.converse("What does it say?", "Noted.")
    tab.new_chat()
    tab.page.get_by_label("Search conversations").fill("gate code")
    tab.page.get_by_role("region", name="Search results").get_by_role("link", name="4417").click()
    file = tab.page.get_by_role("article", name="Attached file")
    expect(file).to_contain_text("The gate code is 4417.")
    expect(tab.page.locator(".attached.found")).to_be_in_viewport()
    file.get_by_role("button", name="Delete").click()
    tab.page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(file).to_have_count(0)
    assert [each["content"] for each in messages(desk.tenant, tab.session)] == ["What does it say?", "Noted."]


def test_what_cannot_be_read_says_why_and_nothing_is_attached(desk: Desk) -> None:
    tab = desk.sign_in()
    for name, kind, content, why in (
        ("photo.png", "image/png", b"\x89PNG", "is an image"),
        ("program.bin", "application/octet-stream", b"\xff\xfe\x00\x01", "is not a text file"),
        ("broken.pdf", "application/pdf", b"%PDF-nothing", "could not be read as a PDF"),
        ("empty.txt", "text/plain", b"  ", "is empty"),
    ):
        attach(tab, name, kind, content)
        expect(tab.page.get_by_role("status").filter(has_text=why).first).to_be_visible()
    expect(tab.page.get_by_role("list", name="Attachments")).to_have_count(0)


def test_a_file_is_taken_off_again(desk: Desk) -> None:
    tab = desk.sign_in()
    attach(tab, "notes.txt", "text/plain", b"Words.")
    tab.page.get_by_role("button", name="Remove notes.txt").click()
    tab.converse("Nothing attached.", "Noted.")
    assert len(messages(desk.tenant, tab.session)) == 2
