"""An authorization server on Authlib, and an MCP server on the PyPI SDK that takes its tokens.

`auth_server.py SECONDS`. Access tokens last so many seconds, which the client is not told, so that it learns of their end
by a 401. Clients have a secret. The issuer has a path. Prints what both servers do, but no token.
"""

import hashlib
import json
import os
import socket
import sys
import time
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import uvicorn
from authlib.oauth2 import AuthorizationServer
from authlib.oauth2.rfc6749 import (
    AuthorizationCodeMixin,
    ClientMixin,
    JsonPayload,
    JsonRequest,
    OAuth2Request,
    TokenMixin,
    grants,
)
from authlib.oauth2.rfc6749.errors import InvalidRequestError, OAuth2Error
from authlib.oauth2.rfc6749.requests import BasicOAuth2Payload
from authlib.oauth2.rfc6750 import BearerTokenGenerator
from authlib.oauth2.rfc7009 import RevocationEndpoint
from authlib.oauth2.rfc7591 import ClientRegistrationEndpoint
from authlib.oauth2.rfc7636 import CodeChallenge
from authlib.oauth2.rfc8414 import AuthorizationServerMetadata, get_well_known_url
from authlib.oauth2.rfc9207 import IssuerParameter
from authlib.common.security import generate_token
from mcp.server.auth.provider import AccessToken
from mcp.server.auth.settings import AuthSettings
from mcp.server.mcpserver import MCPServer
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

os.environ["AUTHLIB_INSECURE_TRANSPORT"] = "1"

lifetime = float(sys.argv[1])
listener = socket.create_server(("127.0.0.1", 0))
origin = f"http://127.0.0.1:{listener.getsockname()[1]}"
issuer = f"{origin}/tenant"
resource = f"{origin}/mcp"
methods = ["client_secret_basic", "client_secret_post"]


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def short(token: str) -> str:
    """Enough of a token to tell it from others."""
    return hashlib.sha256(token.encode()).hexdigest()[:8]


def without_port(uri: str) -> str:
    """A loopback redirect may have any port (RFC 8252, section 7.3)."""
    parts = urlsplit(uri)
    return f"{parts.scheme}://{parts.hostname}{parts.path}"


@dataclass
class Client(ClientMixin):
    client_id: str
    client_secret: str
    metadata: dict[str, Any]

    def get_client_id(self) -> str:
        return self.client_id

    def get_default_redirect_uri(self) -> str | None:
        return None

    def get_allowed_scope(self, scope: str | None) -> str:
        allowed = self.metadata.get("scope", "").split()
        return " ".join(one for one in (scope or "").split() if one in allowed)

    def check_redirect_uri(self, redirect_uri: str) -> bool:
        return without_port(redirect_uri) in map(without_port, self.metadata["redirect_uris"])

    def check_client_secret(self, client_secret: str) -> bool:
        return client_secret == self.client_secret

    def check_endpoint_auth_method(self, method: str, endpoint: str) -> bool:
        return method == self.metadata["token_endpoint_auth_method"]

    def check_response_type(self, response_type: str) -> bool:
        return response_type in self.metadata["response_types"]

    def check_grant_type(self, grant_type: str) -> bool:
        return grant_type in self.metadata["grant_types"]


@dataclass
class Code(AuthorizationCodeMixin):
    client_id: str
    redirect_uri: str
    scope: str
    resource: str
    code_challenge: str
    code_challenge_method: str

    def get_redirect_uri(self) -> str:
        return self.redirect_uri

    def get_scope(self) -> str:
        return self.scope


@dataclass
class Token(TokenMixin):
    client_id: str
    access_token: str
    refresh_token: str
    scope: str
    resource: str
    issued_at: float = field(default_factory=time.time)
    revoked: bool = False
    used: bool = False

    def check_client(self, client: Client) -> bool:
        return self.client_id == client.client_id

    def get_scope(self) -> str:
        return self.scope

    def get_expires_in(self) -> float:
        return lifetime

    def is_expired(self) -> bool:
        return time.time() >= self.issued_at + lifetime

    def is_revoked(self) -> bool:
        return self.revoked


clients: dict[str, Client] = {}
codes: dict[str, Code] = {}
access_tokens: dict[str, Token] = {}
refresh_tokens: dict[str, Token] = {}


class FormRequest(OAuth2Request):
    """A request of Starlette, whose form has been read."""

    def __init__(self, request: Request, form: dict[str, str]) -> None:
        super().__init__(request.method, str(request.url), headers=request.headers)
        self.fields = form
        self.query = dict(request.query_params)
        self.payload = BasicOAuth2Payload(self.query | form)

    @property
    def args(self) -> dict[str, str]:
        return self.query

    @property
    def form(self) -> dict[str, str]:
        return self.fields


class Body(JsonPayload):
    def __init__(self, data: Any) -> None:
        self._data = data

    @property
    def data(self) -> Any:
        return self._data


class Located(Response):
    """A response as extensions of Authlib want it."""

    @property
    def location(self) -> str | None:
        return self.headers.get("location")

    @location.setter
    def location(self, value: str) -> None:
        self.headers["location"] = value


class Server(AuthorizationServer):
    def query_client(self, client_id: str) -> Client | None:
        return clients.get(client_id)

    def save_token(self, token: dict[str, Any], request: OAuth2Request) -> None:
        before = request.authorization_code or request.refresh_token
        if request.payload.data.get("resource") != before.resource:
            raise InvalidRequestError("another resource than at the login")
        issued = Token(
            request.client.client_id, token["access_token"], token["refresh_token"], token["scope"], before.resource
        )
        access_tokens[issued.access_token] = issued
        refresh_tokens[issued.refresh_token] = issued
        say(f"granted {request.payload.grant_type}, resource {before.resource}")
        say(f"refresh token {short(issued.refresh_token)} issued")

    def create_oauth2_request(self, request: OAuth2Request) -> OAuth2Request:
        return request

    def create_json_request(self, request: JsonRequest) -> JsonRequest:
        return request

    def handle_response(self, status: int, body: Any, headers: Any) -> Response:
        if status >= 400:
            say(f"error: {body['error']}")
        text = json.dumps(body) if isinstance(body, dict) else body
        return Located(text, status, dict(headers))

    def send_signal(self, name: str, *args: Any, **kwargs: Any) -> None:
        pass


class CodeGrant(grants.AuthorizationCodeGrant):
    TOKEN_ENDPOINT_AUTH_METHODS = methods

    def save_authorization_code(self, code: str, request: OAuth2Request) -> None:
        asked = request.payload.data
        codes[code] = Code(
            request.client.client_id,
            asked["redirect_uri"],
            asked["scope"],
            asked["resource"],
            asked["code_challenge"],
            asked["code_challenge_method"],
        )

    def query_authorization_code(self, code: str, client: Client) -> Code | None:
        found = codes.get(code)
        return found if found and found.client_id == client.client_id else None

    def delete_authorization_code(self, authorization_code: Code) -> None:
        for code in [code for code, found in codes.items() if found is authorization_code]:
            del codes[code]

    def authenticate_user(self, authorization_code: Code) -> str:
        return "ada"


class RefreshGrant(grants.RefreshTokenGrant):
    TOKEN_ENDPOINT_AUTH_METHODS = methods
    INCLUDE_NEW_REFRESH_TOKEN = True

    def authenticate_refresh_token(self, refresh_token: str) -> Token | None:
        found = refresh_tokens.get(refresh_token)
        say(f"refresh token {short(refresh_token)} used")
        if found and found.used:
            say("error: this refresh token was used before")
        return found if found and not found.used and not found.revoked else None

    def authenticate_user(self, refresh_token: Token) -> str:
        return "ada"

    def revoke_old_credential(self, refresh_token: Token) -> None:
        refresh_token.used = True


class Registration(ClientRegistrationEndpoint):
    def authenticate_token(self, request: JsonRequest) -> str:
        return "anybody"

    def get_server_metadata(self) -> dict[str, Any]:
        return metadata

    def save_client(self, client_info: dict[str, Any], client_metadata: dict[str, Any], request: JsonRequest) -> Client:
        client = Client(client_info["client_id"], client_info["client_secret"], dict(client_metadata))
        clients[client.client_id] = client
        say(f"registered a client: {client_metadata['token_endpoint_auth_method']}")
        return client


class Revocation(RevocationEndpoint):
    CLIENT_AUTH_METHODS = methods

    def query_token(self, token_string: str, token_type_hint: str | None) -> Token | None:
        return access_tokens.get(token_string) or refresh_tokens.get(token_string)

    def revoke_token(self, token: Token, request: OAuth2Request) -> None:
        token.revoked = True
        say("revoked a login")


class Issuer(IssuerParameter):
    def get_issuer(self) -> str:
        return issuer


metadata = AuthorizationServerMetadata(
    issuer=issuer,
    authorization_endpoint=f"{issuer}/authorize",
    token_endpoint=f"{issuer}/token",
    registration_endpoint=f"{issuer}/register",
    revocation_endpoint=f"{issuer}/revoke",
    scopes_supported=["mcp:tools"],
    response_types_supported=["code"],
    grant_types_supported=["authorization_code", "refresh_token"],
    token_endpoint_auth_methods_supported=methods,
    code_challenge_methods_supported=["S256"],
    authorization_response_iss_parameter_supported=True,
)
authorization = Server(scopes_supported=metadata["scopes_supported"])
new_token = lambda **_: generate_token(42)
authorization.register_token_generator("default", BearerTokenGenerator(new_token, new_token, lambda *_: 0))
authorization.register_grant(CodeGrant, [CodeChallenge(required=True)])
authorization.register_grant(RefreshGrant)
authorization.register_endpoint(Registration)
authorization.register_endpoint(Revocation)
authorization.register_extension(lambda server: Issuer()(server))


class Verifier:
    async def verify_token(self, token: str) -> AccessToken | None:
        found = access_tokens.get(token)
        if not found or found.is_expired() or found.is_revoked():
            say("access token refused")
            return None
        return AccessToken(
            token=token, client_id=found.client_id, scopes=found.scope.split(), resource=found.resource, subject="ada"
        )


server = MCPServer(
    "interop",
    token_verifier=Verifier(),
    auth=AuthSettings(
        issuer_url=issuer, resource_server_url=resource, required_scopes=["mcp:tools"], validate_token_resource=True
    ),
)


@server.tool()
def echo(message: str) -> str:
    """Say it back"""
    return message


@server.custom_route(get_well_known_url(issuer), methods=["GET"])
async def describe(_: Request) -> Response:
    return Located(json.dumps(metadata), media_type="application/json")


@server.custom_route("/tenant/authorize", methods=["GET", "POST"])
async def authorize(request: Request) -> Response:
    asked = FormRequest(request, {})
    try:
        grant = authorization.get_consent_grant(asked, "ada")
    except OAuth2Error as error:
        return authorization.handle_error_response(asked, error)
    if request.method == "POST":
        return authorization.create_authorization_response(asked, "ada", grant)
    return HTMLResponse('<form method="post"><input type="submit" name="agreed" value="yes"></form>')


async def form(request: Request) -> FormRequest:
    return FormRequest(request, {name: str(value) for name, value in (await request.form()).items()})


@server.custom_route("/tenant/token", methods=["POST"])
async def token(request: Request) -> Response:
    return authorization.create_token_response(await form(request))


@server.custom_route("/tenant/revoke", methods=["POST"])
async def revoke(request: Request) -> Response:
    return authorization.create_endpoint_response(Revocation.ENDPOINT_NAME, await form(request))


@server.custom_route("/tenant/register", methods=["POST"])
async def register(request: Request) -> Response:
    asked = JsonRequest(request.method, str(request.url), headers=request.headers)
    asked.payload = Body(await request.json())
    return authorization.create_endpoint_response(Registration.ENDPOINT_NAME, asked)


say(f"listening on {resource}")
uvicorn.Server(uvicorn.Config(server.streamable_http_app(), log_level="warning")).run(sockets=[listener])
