interface PolicyRules {
  createHTML(text: string): string | null
}

interface PolicyFactory {
  createPolicy(name: string, rules: PolicyRules): unknown
}

declare global {
  interface Window {
    /** Missing in browsers that do not know Trusted Types. */
    readonly trustedTypes?: PolicyFactory
  }
}

/**
 * The page runs under `require-trusted-types-for 'script'`. The component library writes its style sheets through
 * `innerHTML`; text without `<` can hold no markup, so it passes, and everything else is refused.
 */
export function allowOnlyPlainText(): void {
  window.trustedTypes?.createPolicy('default', { createHTML: (text) => (text.includes('<') ? null : text) })
}
