import type { InstanceConfig } from '@svc/protocol/instance'
import type { Settings } from '../../config/settings.ts'

/** What a visitor's browser must know to draw the sign-in page, and more for those who are signed in. */
export function publicConfig(
  settings: Settings,
  instanceId: string,
  audience: 'visitor' | 'signed in',
): InstanceConfig {
  const { auth, passwords, branding, containers, oidc } = settings
  return {
    registration_enabled: !auth.disableRegistration,
    invitations_enabled: !auth.disableInvites,
    product_name: branding.productName,
    login_banner_title: branding.loginBannerTitle,
    login_banner: branding.loginBanner,
    login_banner_every_visit: branding.loginBannerEveryVisit,
    oidc_providers: oidc.providers.map(({ id, displayName }) => ({ id, display_name: displayName })),
    auth_modes: auth.modes,
    instance_id: instanceId,
    allow_autostart: containers.allowAutostart,
    browser_delegate_enabled: containers.browserDelegateEnabled,
    default_per_handle_home: containers.perHandleHome,
    default_classification_banner: branding.classificationBanner,
    min_password_length: passwords.minLength,
    password_requirements: {
      upper: passwords.requireUpper,
      lower: passwords.requireLower,
      digit: passwords.requireDigit,
      special: passwords.requireSpecial,
    },
    password_history_count: passwords.historyCount,
    password_min_changed: passwords.minChanged,
    brand_color: branding.brandColor,
    logo_url: branding.logoUrl ?? '',
    terms_url: branding.termsUrl ?? '',
    privacy_url: branding.privacyUrl ?? '',
    aup_url: branding.aupUrl ?? '',
    support_url: branding.supportUrl ?? '',
    support_email: branding.supportEmail ?? '',
    nix_available: containers.nixEnabled,
    sudo_available: containers.allowSudo,
    per_handle_home_available: containers.perHandleHome,
    ...(audience === 'signed in' ? forSignedIn(settings) : {}),
  }
}

function forSignedIn({ egress, sessions, features }: Settings): Partial<InstanceConfig> {
  return {
    netfilter_enabled: egress.netfilterEnabled,
    netfilter_default_domains: [...egress.netfilterDefaultDomains],
    step_up_window_minutes: sessions.stepUpWindowMinutes,
    ...(features.enable === undefined ? {} : { features_enable: features.enable.join(',') }),
  }
}
