//! Handles that are pointers, each of its own type: those of Open MPI and of the standard.

macro_rules! handles {
    ($($name:ident = *mut $object:ident;)*) => {
        $(
            #[allow(clippy::empty_enums, reason = "only the MPI knows what is there")]
            pub enum $object {}
            pub type $name = *mut $object;
        )*
    };
}

handles! {
    MPI_Comm = *mut Comm;
    MPI_Datatype = *mut Datatype;
    MPI_Errhandler = *mut Errhandler;
    MPI_File = *mut File;
    MPI_Group = *mut Group;
    MPI_Info = *mut Info;
    MPI_Message = *mut Message;
    MPI_Op = *mut Op;
    MPI_Request = *mut Request;
    MPI_Session = *mut Session;
    MPI_Win = *mut Win;
}
