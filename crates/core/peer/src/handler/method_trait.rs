//! The macro that generates a protocol's handler trait, which trait objects implement too, from a table of methods.

/// For protocol runtimes: defines the trait that authors of agents or clients implement. **Exempt from semver**, as
/// [`runtime`](crate::runtime) is.
///
/// The input is a table of the methods, requests before notifications. A method with a default has its value behind `=`. The
/// names `RawJson` and `Error` must be in scope. A module can have only one such table, because the macro defines a module `dynamic`.
///
/// ```
/// use agentwire_jsonrpc::{ErrorObject as Error, RawJson};
///
/// pub struct Context;
/// pub struct Client;
///
/// agentwire_peer::method_trait! {
///     /// Adds and subtracts.
///     pub trait Calculator;
///
///     requests:
///     /// Adds.
///     async fn add(terms: (i32, i32), context: Context) -> Result<i32, Error>;
///     /// Subtracts.
///     async fn subtract(terms: (i32, i32), context: Context) -> Result<i32, Error> = Ok(terms.0 - terms.1);
///
///     notifications:
///     /// Clears the display.
///     fn clear(client: &Client) = ();
///
///     extensions(Context, client: &Client)
/// }
///
/// struct Mine;
///
/// impl Calculator for Mine {
///     async fn add(&self, terms: (i32, i32), _: Context) -> Result<i32, Error> {
///         Ok(terms.0 + terms.1)
///     }
/// }
///
/// fn main() {
///     use futures::FutureExt;
///
///     let any: std::sync::Arc<dyn Calculator> = std::sync::Arc::new(Mine);
///     assert_eq!(any.add((2, 3), Context).now_or_never(), Some(Ok(5)));
///     assert_eq!(any.subtract((2, 3), Context).now_or_never(), Some(Ok(-1)));
/// }
/// ```
///
/// The futures of all methods are `Send`, so the trait's implementations are `Send + Sync`. References, `Box` and `Arc` of an
/// implementation implement the trait, also those of a trait object: `Box<dyn Calculator>` is a calculator.
///
/// A method that returns a future of its own type cannot be called on a trait object, so it requires `Self: Sized`. Every
/// implementation has the supertrait `AsDyn`, which returns the same methods with boxed futures. Pointers call those.
#[macro_export]
macro_rules! method_trait {
    (
        $(#[$doc:meta])* pub trait $Trait:ident;
        $($methods:tt)*
    ) => {
        $crate::method_trait! { @trait [$(#[$doc])* pub trait $Trait: Send + Sync + dynamic::AsDyn] $($methods)* }
        $crate::method_trait! { @pointer [impl<T: $Trait + ?Sized> $Trait for &T] [T: $Trait] $($methods)* }
        $crate::method_trait! { @pointer [impl<T: $Trait + ?Sized> $Trait for Box<T>] [T: $Trait] $($methods)* }
        $crate::method_trait! {
            @pointer [impl<T: $Trait + ?Sized> $Trait for ::std::sync::Arc<T>] [T: $Trait] $($methods)*
        }

        /// The methods with boxed futures. They are not in scope elsewhere, so a call names those of the trait.
        mod dynamic {
            use super::*;

            $crate::method_trait! { @dynamic $Trait $($methods)* }
        }
    };

    // The trait.
    (
        @trait [$($header:tt)*]
        requests: $($(#[$doc:meta])*
            async fn $method:ident($request:ident: $Request:ty, $context:ident: $Context:ty) -> $Answer:ty
            $(= $default:expr)?;)*
        notifications: $($(#[$notify_doc:meta])*
            fn $notify:ident($($arg:ident: $Arg:ty),*) $(-> $Value:ty)? $(= $value:expr)?;)*
        extensions($ExtensionContext:ty, $peer:ident: $Peer:ty)
    ) => {
        $($header)* {
            $($crate::method_trait! {
                @item [$(#[$doc])* fn $method(&self, $request: $Request, $context: $Context)
                    -> impl ::std::future::Future<Output = $Answer> + Send where Self: Sized]
                [$request $context] $(= ::std::future::ready($default))?
            })*

            $($crate::method_trait! {
                @item [$(#[$notify_doc])* fn $notify(&self, $($arg: $Arg),*) $(-> $Value)?]
                [$($arg)*] $(= $value)?
            })*

            /// Answers a request that the protocol does not define. The names of custom methods begin with `_`. The default
            /// answers "method not found".
            fn extension_request(
                &self,
                method: &str,
                params: Option<RawJson>,
                context: $ExtensionContext,
            ) -> impl ::std::future::Future<Output = Result<RawJson, Error>> + Send
            where
                Self: Sized,
            {
                let _ = (params, context);
                ::std::future::ready(Err(Error::method_not_found(method)))
            }

            /// Called for a notification that the protocol does not define. The default ignores it.
            fn extension_notification(&self, method: &str, params: Option<RawJson>, $peer: $Peer) {
                let _ = (method, params, $peer);
            }
        }
    };
    (@item [$($signature:tt)*] [$($arg:ident)*]) => { $($signature)*; };
    (@item [$($signature:tt)*] [$($arg:ident)*] = $default:expr) => {
        $($signature)* {
            let _ = ($(&$arg,)*);
            $default
        }
    };

    // The implementation of a pointer.
    (
        @pointer [$($header:tt)*] [$Target:ident: $Trait:ident]
        requests: $($(#[$doc:meta])*
            async fn $method:ident($request:ident: $Request:ty, $context:ident: $Context:ty) -> $Answer:ty
            $(= $default:expr)?;)*
        notifications: $($(#[$notify_doc:meta])*
            fn $notify:ident($($arg:ident: $Arg:ty),*) $(-> $Value:ty)? $(= $value:expr)?;)*
        extensions($ExtensionContext:ty, $peer:ident: $Peer:ty)
    ) => {
        $($header)* {
            $(fn $method(&self, $request: $Request, $context: $Context)
                -> impl ::std::future::Future<Output = $Answer> + Send {
                dynamic::Methods::$method(<$Target as dynamic::AsDyn>::as_dyn(self), $request, $context)
            })*

            $(fn $notify(&self, $($arg: $Arg),*) $(-> $Value)? {
                <$Target as $Trait>::$notify(self, $($arg),*)
            })*

            fn extension_request(
                &self,
                method: &str,
                params: Option<RawJson>,
                context: $ExtensionContext,
            ) -> impl ::std::future::Future<Output = Result<RawJson, Error>> + Send {
                // A block, because the future borrows from two values, and their common lifetime cannot be named.
                async move {
                    let methods = <$Target as dynamic::AsDyn>::as_dyn(self);
                    dynamic::Methods::extension_request(methods, method, params, context).await
                }
            }

            fn extension_notification(&self, method: &str, params: Option<RawJson>, $peer: $Peer) {
                <$Target as $Trait>::extension_notification(self, method, params, $peer)
            }
        }
    };

    // The same methods with boxed futures. Notifications need none.
    (
        @dynamic $Trait:ident
        requests: $($(#[$doc:meta])*
            async fn $method:ident($request:ident: $Request:ty, $context:ident: $Context:ty) -> $Answer:ty
            $(= $default:expr)?;)*
        notifications: $($(#[$notify_doc:meta])*
            fn $notify:ident($($arg:ident: $Arg:ty),*) $(-> $Value:ty)? $(= $value:expr)?;)*
        extensions($ExtensionContext:ty, $peer:ident: $Peer:ty)
    ) => {
        type Boxed<'a, R> = ::std::pin::Pin<Box<dyn ::std::future::Future<Output = R> + Send + 'a>>;

        #[allow(unnameable_types, unreachable_pub, missing_docs, reason = "no code names it outside of this module")]
        pub trait Methods: Send + Sync {
            $(fn $method(&self, $request: $Request, $context: $Context) -> Boxed<'_, $Answer>;)*
            fn extension_request<'a>(
                &'a self,
                method: &'a str,
                params: Option<RawJson>,
                context: $ExtensionContext,
            ) -> Boxed<'a, Result<RawJson, Error>>;
        }

        impl<T: $Trait> Methods for T {
            $(fn $method(&self, $request: $Request, $context: $Context) -> Boxed<'_, $Answer> {
                Box::pin($Trait::$method(self, $request, $context))
            })*

            fn extension_request<'a>(
                &'a self,
                method: &'a str,
                params: Option<RawJson>,
                context: $ExtensionContext,
            ) -> Boxed<'a, Result<RawJson, Error>> {
                Box::pin($Trait::extension_request(self, method, params, context))
            }
        }

        #[allow(unnameable_types, unreachable_pub, missing_docs, reason = "no code names it outside of this module")]
        pub trait AsDyn {
            #[doc(hidden)]
            fn as_dyn<'a>(&'a self) -> &'a (dyn Methods + 'a);
        }

        impl<T: $Trait> AsDyn for T {
            fn as_dyn<'a>(&'a self) -> &'a (dyn Methods + 'a) {
                self
            }
        }
    };
}
