//! The MPI functions that do not transfer messages of the program: together with the table of calls, all of
//! MPI 5.0. Other functions of an MPI may send or complete messages in ways that the shims do not know.

use crate::calls::CALLS;
use crate::loaded::{Abi, Mpi};
use std::collections::HashSet;
use std::ffi::{CStr, c_char, c_int, c_void};

/// Prefixes of names: functions for objects that are not involved in messages, and for languages.
const FAMILIES: [&str; 15] = [
    "T_",
    "Win_",
    "File_",
    "Info_",
    "Group_",
    "Type_",
    "Op_",
    "Errhandler_",
    "Error_",
    "Cart_",
    "Graph_",
    "Status_",
    "Attr_",
    "Abi_",
    "Add_error_",
];

/// Suffixes of names: conversions of handles to numbers and to handles of other languages.
const LANGUAGES: [&str; 8] = ["_c2f", "_f2c", "_c2f08", "_f082c", "_f2f08", "_f082f", "_toint", "_fromint"];

/// The large-count forms are included.
const OTHERS: &str = "
    Abort Address Aint_add Aint_diff Alloc_mem Barrier Barrier_init Ibarrier Buffer_attach Buffer_iflush Cartdim_get Close_port
    Comm_accept Comm_attach_buffer Comm_call_errhandler Comm_compare Comm_connect Comm_create Comm_create_errhandler
    Comm_create_group Comm_create_keyval Comm_delete_attr Comm_disconnect Comm_dup Comm_free Comm_free_keyval Comm_get_attr
    Comm_get_errhandler Comm_get_info Comm_get_name Comm_get_parent Comm_group Comm_idup Comm_iflush_buffer Comm_join Comm_rank
    Comm_remote_group Comm_remote_size Comm_set_attr Comm_set_errhandler Comm_set_name Comm_size Comm_spawn Comm_spawn_multiple
    Comm_split Comm_test_inter Dims_create Dist_graph_neighbors Dist_graph_neighbors_count Exscan_init Finalize Finalized
    Free_mem Get_address Get_count Get_elements Get_elements_x Get_hw_resource_info Get_library_version Get_processor_name
    Get_version Graphdims_get Grequest_complete Grequest_start Initialized Intercomm_create Intercomm_merge Is_thread_main
    Keyval_create Keyval_free Lookup_name Neighbor_allgather_init Neighbor_allgatherv_init Neighbor_alltoall_init
    Neighbor_alltoallv_init Neighbor_alltoallw_init Open_port Pack_external Pack_external_size Pack_size Parrived Pcontrol
    Pready Pready_list Pready_range Publish_name Query_thread Reduce_local Reduce_scatter_block_init Reduce_scatter_init
    Register_datarep Remove_error_class Remove_error_code Remove_error_string Scan_init Session_attach_buffer
    Session_call_errhandler Session_create_errhandler Session_finalize Session_get_errhandler Session_get_info
    Session_get_nth_pset Session_get_num_psets Session_get_pset_info Session_iflush_buffer Session_init
    Session_set_errhandler Session_set_info Test_cancelled Topo_test Unpack_external Unpublish_name Wtick Wtime
";

/// Why an MPI may have unknown functions, if it may.
pub(crate) fn doubt(mpi: &Mpi) -> Option<String> {
    let handled: HashSet<&str> = CALLS.iter().filter_map(|call| call.mpi_name.to_str().ok()).collect();
    let symbols = mpi.object().map(|object| object.symbols());
    let defined = symbols.into_iter().flatten().filter(|symbol| symbol.is_defined());
    let names: Vec<&str> = defined.filter_map(|symbol| symbol.name.to_str().ok()).collect();
    if !names.contains(&"MPI_Send") {
        return Some("the functions of the MPI cannot be listed".to_owned());
    }
    let name = unknown(names.into_iter(), &handled)?;
    Some(format!("the MPI has {name}, which mpress does not know"))
}

/// Why an MPI is not the one that its file name promises, if it says so itself: Open MPI 1.10 was
/// `libmpi.so.12`, too.
pub(crate) fn contradiction(mpi: &Mpi, abi: Abi) -> Option<String> {
    let function = mpi.own(c"MPI_Get_library_version");
    if function.is_null() {
        return Some(format!("{} does not say what it is", mpi.soname.to_string_lossy()));
    }
    let (mut text, mut len) = (vec![0_u8; LONGEST_VERSION + 1], 0);
    // SAFETY: the MPI's function of this name has this type, in every ABI, and may be called at any time. The
    // text has room for any version.
    unsafe {
        let function = std::mem::transmute::<
            *mut c_void,
            unsafe extern "C" fn(*mut c_char, *mut c_int) -> c_int,
        >(function);
        function(text.as_mut_ptr().cast(), &raw mut len);
    }
    let text = CStr::from_bytes_until_nul(&text).map(CStr::to_string_lossy).unwrap_or_default();
    let says = text.lines().next().unwrap_or_default();
    contradicts(abi, says).then(|| format!("{} says that it is {says}", mpi.soname.to_string_lossy()))
}

/// Whether a library that describes itself in this way has another ABI. Unknown names are accepted: each MPI
/// has derivatives.
fn contradicts(abi: Abi, says: &str) -> bool {
    let is = |names: &[&str]| names.iter().any(|name| says.starts_with(name));
    match abi {
        Abi::OpenMpi => is(&["MPICH", "MVAPICH", "Intel(R) MPI"]),
        Abi::Mpich => is(&["Open MPI"]),
        Abi::Standard => false,
    }
}

/// MPICH's limit of the length of its version; Open MPI's is less.
const LONGEST_VERSION: usize = 8192;

/// The first of these symbols that is an MPI function, not handled, and not known.
fn unknown<'a>(mut symbols: impl Iterator<Item = &'a str>, handled: &HashSet<&str>) -> Option<&'a str> {
    let others: HashSet<&str> = OTHERS.split_whitespace().collect();
    symbols.find(|symbol| {
        let Some(name) = symbol.strip_prefix("MPI_") else { return false };
        // Constants, and functions for Fortran's constants, are in capitals.
        let is_function = name.starts_with(|c: char| c.is_ascii_uppercase())
            && (name.starts_with("T_") || name.contains(|c: char| c.is_ascii_lowercase()))
            && !name.contains("_F90");
        let is_known = || {
            FAMILIES.iter().any(|family| name.starts_with(family))
                || LANGUAGES.iter().any(|end| name.ends_with(end))
                || others.contains(name)
                || others.contains(name.strip_suffix("_c").unwrap_or(name))
        };
        is_function && !handled.contains(symbol) && !is_known()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn handled() -> HashSet<&'static str> {
        CALLS.iter().filter_map(|call| call.mpi_name.to_str().ok()).collect()
    }

    #[test]
    fn all_that_is_handled_or_listed_is_known() {
        let handled = handled();
        assert_eq!(unknown(handled.iter().copied(), &handled), None);
        let others = [
            "MPI_Comm_dup",
            "MPI_Pack_c",
            "MPI_T_init_thread",
            "MPI_Comm_c2f",
            "MPI_F_STATUS_IGNORE",
            "MPI_DUP_FN",
            "MPI_WTIME_F90",
            "MPIX_Anything",
            "mpi_send_",
            "PMPI_Teleport",
            "MPI_Status_set_tag",
        ];
        assert_eq!(unknown(others.into_iter(), &handled), None);
    }

    #[test]
    fn a_call_that_is_not_in_the_table_is_seen() {
        let handled = handled();
        assert_eq!(unknown(["MPI_Comm_dup", "MPI_Teleport"].into_iter(), &handled), Some("MPI_Teleport"));
        for left_out in [
            "MPI_Isendrecv",
            "MPI_Request_get_status_any",
            "MPI_Send_c",
            "MPI_Start",
            "MPI_Comm_flush_buffer",
        ] {
            let fewer: HashSet<_> = handled.iter().copied().filter(|name| *name != left_out).collect();
            assert_eq!(fewer.len() + 1, handled.len(), "{left_out}");
            assert_eq!(unknown(handled.iter().copied(), &fewer), Some(left_out));
        }
    }
}
