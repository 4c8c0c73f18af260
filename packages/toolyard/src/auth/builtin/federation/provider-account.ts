/** Account at an identity provider, as the provider described it during the last sign-in. */
export interface ProviderAccount {
  /** Key of the provider in the configuration. */
  readonly provider: string;
  /** Issuer identifier, or the address of GitHub. */
  readonly issuer: string;
  /** Identifier that the provider never assigns to another account. */
  readonly subject: string;
  /** Login of GitHub. Unique at one time, but it may be assigned to another account later. */
  readonly login?: string;
  /** Address that the provider has verified. An address that is not verified is not stored. */
  readonly email?: string;
  readonly groups: readonly string[];
}
