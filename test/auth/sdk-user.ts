/** Redirect address of the clients. Nothing listens there. */
const REDIRECT = "http://127.0.0.1:9199/callback";

/** OAuth client provider for both SDKs: stores registration and tokens, and sends the user to the sign-in. */
export class SdkUser {
  readonly redirectUrl: string;
  readonly clientMetadata: object;
  readonly #signIn: (address: string) => Promise<URL>;
  readonly #stored: Record<string, unknown> = {};
  /** Parameters of the address to which the sign-in returned the browser. */
  answer = new URLSearchParams();

  /** `signIn`: opens an address as the user, and resolves with the address to which the browser is sent back. */
  constructor(signIn: (address: string) => Promise<URL>, redirectUrl: string = REDIRECT) {
    this.redirectUrl = redirectUrl;
    this.clientMetadata = { client_name: "SDK", redirect_uris: [redirectUrl] };
    this.#signIn = signIn;
  }

  get code(): string {
    return this.answer.get("code") ?? "";
  }

  state = (): string => "state-of-the-client";
  clientInformation = (): unknown => this.#stored["client"];
  saveClientInformation = (client: unknown): void => void (this.#stored["client"] = client);
  tokens = (): unknown => this.#stored["tokens"];
  saveTokens = (tokens: unknown): void => void (this.#stored["tokens"] = tokens);
  codeVerifier = (): string => String(this.#stored["verifier"]);
  saveCodeVerifier = (verifier: string): void => void (this.#stored["verifier"] = verifier);
  discoveryState = (): unknown => this.#stored["discovery"];
  saveDiscoveryState = (state: unknown): void => void (this.#stored["discovery"] = state);

  redirectToAuthorization = async ({ href }: URL): Promise<void> => {
    this.answer = (await this.#signIn(href)).searchParams;
  };
}
