"""A login before Locust's page; named before the locustfile on the master, with `--web-login`.

Name and password come from LOGIN_USERNAME and LOGIN_PASSWORD. Sessions end when the master does.
"""

import hmac
import os
import secrets
from typing import Any

from flask import redirect, request, session, url_for
from flask_login import UserMixin, login_user
from locust import events
from locust.env import Environment
from locust.web import WebUI
from werkzeug.wrappers import Response


class Person(UserMixin):  # type: ignore[misc] # flask-login has no types
    """The only one who can log in."""

    def __init__(self, name: str) -> None:
        self.id = name


@events.init.add_listener
def add_login(environment: Environment, web_ui: WebUI | None = None, **_: object) -> None:
    """Use Locust's own login page: https://docs.locust.io/en/stable/extending-locust.html#authentication."""
    if web_ui is None or web_ui.app is None:
        return
    person = Person(os.environ["LOGIN_USERNAME"])
    password = os.environ["LOGIN_PASSWORD"]
    options: Any = environment.parsed_options
    path = f"{options.web_base_path or ''}/login_submit"

    def find(name: str) -> Person | None:
        return person if name == person.id else None

    def submit() -> Response:
        is_person = _same(request.form.get("username", ""), person.id)
        if _same(request.form.get("password", ""), password) and is_person:
            login_user(person)
            return redirect(url_for("locust.index"))
        session["auth_error"] = "Wrong name or password"
        return redirect(url_for("locust.login"))

    web_ui.app.config.update(SECRET_KEY=secrets.token_hex(), SESSION_COOKIE_SAMESITE="Lax")
    web_ui.login_manager.user_loader(find)
    web_ui.auth_args = {"username_password_callback": path}
    web_ui.app.add_url_rule(path, endpoint="login_submit", view_func=submit, methods=["POST"])


def _same(given: str, right: str) -> bool:
    """Compare in a time that does not tell how much was right."""
    return hmac.compare_digest(given.encode(), right.encode())
