//! The methods of a client handle that are the same in both versions.

/// Defines them in an `impl` of a type with the member `peer`.
macro_rules! extension_methods {
    () => {
        /// Sends a request of an extension. Its name begins with `_`; any other fails without being sent.
        pub fn extension_request<P, R>(&self, method: &str, params: &P) -> agentwire_peer::Call<R>
        where
            P: serde::Serialize + ?Sized,
            R: serde::de::DeserializeOwned + Send + 'static,
        {
            match $crate::outgoing::check_extension(method) {
                Ok(()) => self.peer.call_method(method, Some(params)),
                Err(why) => self.peer.refuse_call(why),
            }
        }

        /// Sends a notification of an extension. Its name begins with `_`; any other fails without being sent.
        pub fn extension_notification<P: serde::Serialize + ?Sized>(
            &self,
            method: &str,
            params: &P,
        ) -> agentwire_peer::Notify<'_> {
            match $crate::outgoing::check_extension(method) {
                Ok(()) => self.peer.notify_method(method, Some(params)),
                Err(why) => self.peer.refuse_notify(why),
            }
        }

        /// Returns whether the connection is closed.
        pub fn is_closed(&self) -> bool {
            self.peer.is_closed()
        }
    };
}
pub(crate) use extension_methods;
