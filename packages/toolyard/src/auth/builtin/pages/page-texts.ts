/** Texts of the pages in one language. `{name}` is replaced by a value. */
export interface PageTexts {
  readonly language: string;
  readonly signIn: string;
  readonly userName: string;
  readonly password: string;
  readonly wrongPassword: string;
  readonly tooManyAttempts: string;
  readonly signInWith: string;
  readonly providerFailed: string;
  readonly signInFor: string;
  readonly consent: string;
  readonly asks: string;
  readonly signedInAs: string;
  readonly redirect: string;
  readonly localRedirect: string;
  readonly permissions: string;
  readonly scopeBase: string;
  readonly scopeOffline: string;
  readonly scopeOpenid: string;
  readonly allow: string;
  readonly deny: string;
  readonly otherUser: string;
  readonly error: string;
  readonly expired: string;
  readonly cannotContinue: string;
  readonly unavailable: string;
  readonly device: string;
  readonly enterCode: string;
  readonly code: string;
  readonly proceed: string;
  readonly wrongCode: string;
  readonly deviceDenied: string;
  readonly compareCode: string;
  readonly codeWarning: string;
  readonly deviceDone: string;
  readonly deviceRedirect: string;
}
